"""The output of a command, of which the beginning and the end are kept."""

from __future__ import annotations

from collections import deque
from typing import Final

HEAD: Final = 100
TAIL: Final = 300
"""Lines of the beginning and of the end that are kept."""
_LONGEST: Final = 4_000
"""Characters of a line that are kept."""


class KeptOutput:
    """Takes text piece by piece, and as little memory as what is kept of it, however much comes."""

    def __init__(self) -> None:
        self._head: list[str] = []
        self._tail: deque[str] = deque(maxlen=TAIL)
        self._open = ""
        self.left_out = 0

    def write(self, text: str) -> None:
        """More output; it goes on where the last piece stopped."""
        *lines, rest = text.split("\n")
        for line in lines:
            self._keep(_bounded(self._open + line))
            self._open = ""
        self._open = _bounded(self._open + rest)

    @property
    def head(self) -> str:
        """The lines of the beginning."""
        return "\n".join(self._head if self._tail or not self._open else [*self._head, self._open])

    @property
    def tail(self) -> str:
        """The lines of the end, as far as they are not those of the beginning."""
        return "\n".join([*self._tail, *([self._open] if self._open and self._tail else [])])

    def last(self, count: int) -> str:
        """The last ``count`` lines."""
        lines = [*self._head[-count:], *list(self._tail)[-count:]]
        return "\n".join([*lines, *([self._open] if self._open else [])][-count:])

    def __bool__(self) -> bool:
        return bool(self._head or self._open)

    def _keep(self, line: str) -> None:
        if len(self._head) < HEAD:
            self._head.append(line)
        else:
            self.left_out += len(self._tail) == TAIL
            self._tail.append(line)


def _bounded(line: str) -> str:
    """A line that was overwritten again and again is what it was last; a long one is cut."""
    if len(line) <= _LONGEST:
        return line
    line = line[line.rstrip("\r").rfind("\r") + 1 :]
    return line[:_LONGEST]

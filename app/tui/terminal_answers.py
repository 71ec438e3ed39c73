"""What the terminal itself says when it is asked, told apart from what a person types."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping
from typing import Final

QUESTION: Final = "\x1b]11;?\x1b\\\x1b[c"
"""Asks for the colour behind the text (xterm's OSC 11) and then what the terminal is (DA1). Every
terminal answers the second: when that has come, the first was answered or will not be."""

LATEST: Final = 10.0
"""Seconds from the second answer on for which the first may still come. Without a second nothing
was answered yet, and all of it may come at any time."""
_ANSWER: Final = re.compile(rb"\x1b\]11;([^\x07\x1b]*)(?:\x07|\x1b\\)|\x1b\[\?[0-9;]*c")
_BEGUN: Final = re.compile(rb"\x1b(?:\](?:1(?:1(?:;[^\x07\x1b]*\x1b?)?)?)?|\[(?:\?[0-9;]*)?)?\Z")
_COLOUR: Final = re.compile(r"rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})")


class Answers:
    """Takes the answers to ``QUESTION`` out of what comes from a terminal."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """``clock`` gives seconds."""
        self.is_dark: bool | None = None
        """Whether the background is dark; None while that is not known."""
        self.is_over = False
        """Whether the terminal has said all that it will say."""
        self._clock = clock
        self._until = 0.0
        self._is_owed = False
        self._begun = b""

    @property
    def is_owed(self) -> bool:
        """Whether an answer about the background may still come."""
        return self._is_owed and self._clock() < self._until

    def _may_come(self) -> bool:
        # A method: it may be over the second time.
        return (self._is_owed or not self.is_over) and self._clock() < self._until

    def expect(self) -> None:
        """The question was asked."""
        self._is_owed, self.is_over, self._until = True, False, math.inf

    def sift(self, data: bytes) -> bytes:
        """What a person typed, of ``data`` that came from the terminal.

        What may be the beginning of an answer is kept back until the next call, or ``let_go``.
        """
        data, self._begun = self._begun + data, b""
        if not self._may_come():
            return data
        typed, end = b"", 0
        for match in _ANSWER.finditer(data):
            typed += data[end : match.start()]
            end = match.end()
            if match[1] is None:
                self.is_over = True
                self._until = self._clock() + LATEST
            else:
                self.is_dark = is_dark_colour(match[1].decode("ascii", "replace"))
                # It may be late, and come behind the other.
                self._is_owed = False
        typed += data[end:]
        if self._may_come() and (begun := _BEGUN.search(typed)):
            typed, self._begun = typed[: begun.start()], begun[0]
        return typed

    def let_go(self) -> bytes:
        """What was kept back, since nothing came behind it: keys, after all."""
        begun, self._begun = self._begun, b""
        return begun


def is_dark_colour(text: str) -> bool | None:
    """Whether a colour as X11 writes it, such as "rgb:1e1e/1e1e/2e2e", is a dark one; None if it
    is none. By its luma (ITU-R BT.709)."""
    match = _COLOUR.match(text)
    if match is None:
        return None
    red, green, blue = (int(part, 16) / int("f" * len(part), 16) for part in match.groups())
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.5


def is_dark_by_environment(environ: Mapping[str, str]) -> bool | None:
    """Whether rxvt, Konsole and others that set COLORFGBG are dark: its last number is the
    background's, of the sixteen colours. None if it says nothing."""
    number = environ.get("COLORFGBG", "").rpartition(";")[2]
    if not number.isdecimal() or int(number) > 15:
        return None
    return int(number) in (*range(7), 8)

"""What a command writes: its beginning and its end in memory, the whole in a file."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

MOST: Final = 8_000_000
"""Characters that are kept in memory."""
SAVED_MOST: Final = 50_000_000
"""Characters that are saved in a file."""
_HEAD_SHARE: Final = 0.4


class Output:
    """Grows piece by piece, and takes no more memory than it is given."""

    def __init__(self, most: int = MOST, save: Path | None = None) -> None:
        """``most`` is in characters. ``save`` is a file that gets all of it, up to SAVED_MOST; it
        is made, or emptied, at once. Raises OSError."""
        self._head_room = int(most * _HEAD_SHARE)
        self._tail_room = most - self._head_room
        self._head: list[str] = []
        self._tail: deque[str] = deque()
        self._tail_length = 0
        self._left_out = 0
        self._save_room = SAVED_MOST
        self._file: IO[str] | None = None
        if save is not None:
            save.parent.mkdir(parents=True, exist_ok=True)
            self._file = save.open("w", encoding="utf-8", newline="")
        self.length = 0

    def add(self, text: str) -> None:
        """Take what was written next."""
        self.length += len(text)
        self._save(text)
        if self._head_room:
            head, text = text[: self._head_room], text[self._head_room :]
            self._head_room -= len(head)
            self._head.append(head)
        if text:
            self._tail.append(text)
            self._tail_length += len(text)
            while self._tail_length > self._tail_room:
                self._shorten(self._tail_length - self._tail_room)

    def _shorten(self, excess: int) -> None:
        first = self._tail.popleft()
        dropped = min(len(first), excess)
        if dropped < len(first):
            self._tail.appendleft(first[dropped:])
        self._tail_length -= dropped
        self._left_out += dropped

    @property
    def text(self) -> str:
        """All of it, or its beginning and end with a line between that says how much is missing."""
        head, tail = "".join(self._head), "".join(self._tail)
        if not self._left_out:
            return head + tail
        return f"{head}\n[... {self._left_out:,} characters left out ...]\n{tail}"

    def close(self) -> None:
        """End the file."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()

    def _save(self, text: str) -> None:
        if self._file is None or self._save_room <= 0:
            return
        kept = text[: self._save_room]
        self._save_room -= len(kept)
        try:
            self._file.write(kept)
            if not self._save_room:
                self._file.write("\n[... more was not saved ...]\n")
        except OSError:
            # A full disk ends the saving, not the command.
            self.close()
            self._save_room = 0

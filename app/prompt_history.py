"""What was written before in a folder, to be written again.

A file of JSON, one text a line. Several programs append to it, each with a single write, and a
torn line costs one text.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from itertools import groupby
from pathlib import Path
from typing import Final

from gemma_local.app.file_replacing import replace_file
from gemma_local.app.sessions.lock import SessionLock
from gemma_local.app.written import Written, file_stem, read_written

KEPT: Final = 500
"""Texts that are kept of a folder; at twice as many the file is cut down to that."""
LONGEST: Final = 1 << 18
"""Bytes of a text that is kept; longer ones are files rather than something to write again."""

_ATTEMPTS: Final = 4
"""To cut a file down while others write to it, with all lines in their order."""
_MOST_BYTES: Final = 1 << 24
_BINARY: Final = getattr(os, "O_BINARY", 0)


class PromptHistory:
    """The texts of one folder."""

    def __init__(self, place: Path, folder: Path, *, kept: int = KEPT) -> None:
        """``place`` holds the files of all folders; see ``folders.prompts_path``."""
        self.path = place / f"{file_stem(folder)}.jsonl"
        self._kept = kept
        self._last: Written | None = None

    def append(self, written: Written) -> None:
        """Add a text, unless it is empty or the one before. Raises OSError."""
        line = written.to_json().encode() + b"\n"
        if not written.text.strip() or written == self._last or len(line) > LONGEST:
            return
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        while not self._write(line):
            # It was cut down meanwhile: that line went to a file which nobody reads any more.
            pass
        self._last = written

    def texts(self) -> list[Written]:
        """The newest texts, the oldest of them first, none twice in a row."""
        try:
            lines = _read(self.path)
        except OSError:
            return []
        texts: list[Written] = []
        for line in lines:
            written = read_written(line)
            if written is not None and (not texts or texts[-1] != written):
                texts.append(written)
        if len(lines) > 2 * self._kept:
            # Not to be able to shorten it is no reason for not showing it.
            with suppress(OSError):
                self._shorten()
        return texts[-self._kept :]

    def _write(self, line: bytes) -> bool:
        """Append; whether it is in the file that has the name now."""
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | _BINARY
        file = os.open(self.path, flags, 0o600)
        try:
            if (size := os.fstat(file).st_size) > 0:
                os.lseek(file, size - 1, os.SEEK_SET)
                if os.read(file, 1) != b"\n":
                    # The end of a line that a crash or a full disk cut off.
                    line = b"\n" + line
            if os.write(file, line) != len(line):
                raise OSError(f"{self.path} could not be written to its end")
            return _is(file, self.path)
        finally:
            os.close(file)

    def _shorten(self) -> None:
        lock = SessionLock(self.path.with_suffix(".lock"))
        if not lock.acquire():
            return
        try:
            with ExitStack() as opened:
                old = opened.enter_context(self.path.open("rb"))
                # The last line may be one that is just being written.
                whole, _, late = old.read().rpartition(b"\n")
                # Whoever noticed that the file was cut down has written a line twice.
                lines = [line for line, _ in groupby(whole.split(b"\n")) if line][-self._kept :]
                kept = b"".join(line + b"\n" for line in lines)
                for left in reversed(range(_ATTEMPTS)):
                    replace_file(self.path, kept)
                    # What others wrote meanwhile; what they write now, they notice.
                    late += old.read()
                    if not late:
                        return
                    if not left:
                        with self.path.open("ab", buffering=0) as new:
                            new.write(late)
                        return
                    # It belongs before what they have written since.
                    old = opened.enter_context(self.path.open("rb"))
                    since, _, unfinished = old.read()[len(kept) :].rpartition(b"\n")
                    kept = b"".join(map(_as_lines, (kept, late, since)))
                    late = unfinished
        finally:
            lock.release()


def _as_lines(data: bytes) -> bytes:
    return data if not data or data.endswith(b"\n") else data + b"\n"


def _read(path: Path) -> list[bytes]:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _MOST_BYTES))
        return list(filter(None, file.read().split(b"\n")))


def _is(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


class HistoryWalk:
    """Going back through what was written, and forth to what is being written.

    What is changed on the way stays changed until the walk is over.
    """

    def __init__(self, texts: Sequence[Written] = ()) -> None:
        self._texts = [*texts, Written()]
        self._at = len(texts)

    def up(self, shown: Written) -> Written | None:
        """The text before, None at the first; ``shown`` is what now stands there."""
        return self._to(self._at - 1, shown)

    def down(self, shown: Written) -> Written | None:
        """The text after, None at the draft."""
        return self._to(self._at + 1, shown)

    def _to(self, at: int, shown: Written) -> Written | None:
        if not 0 <= at < len(self._texts):
            return None
        self._texts[self._at] = shown
        self._at = at
        return self._texts[at]


def containing(part: str, texts: Sequence[Written]) -> list[Written]:
    """The texts that contain ``part`` in any case, the newest first, each once."""
    wanted = part.lower()
    found: dict[str, Written] = {}
    for written in reversed(texts):
        if wanted in written.text.lower():
            found.setdefault(written.text, written)
    return list(found.values())

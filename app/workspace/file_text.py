"""The text of a file, or the reason why it has none."""

from __future__ import annotations

import codecs
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

from gemma_local.app.workspace.errors import Unreadable

MOST_BYTES: Final = 200_000
"""Of a file that is read whole or in part: more than any context holds."""

_Line = TypeVar("_Line", str, bytes)
_HEAD: Final = 8192
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    # The longer ones first: UTF-32's mark begins like that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class FileText:
    """A file's text, with "\\n" at the end of lines. ``note`` says what the reader should know
    about how it was read, "" if nothing."""

    text: str
    note: str = ""


def read_text(
    path: Path, shown: str, lines: tuple[int, int] | None = None, *, most_bytes: int = MOST_BYTES
) -> FileText:
    """The text of a file, or of its ``lines`` from first to last, counted from 1.

    ``shown`` is how the person wrote the path. Raises Unreadable for what is no file, not text,
    larger than ``most_bytes``, or cannot be read.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise Unreadable(f"{shown} was not read: it is no ordinary file")
        with path.open("rb") as file:
            head = file.read(_HEAD)
        mark = next((encoding for bom, encoding in _MARKS if head.startswith(bom)), "")
        if b"\0" in head and mark in ("", "utf-8-sig"):
            raise Unreadable(f"{shown} was not read: it is binary, not text")
        if lines is None:
            return _decoded(_whole(path, shown, most_bytes), mark)
        return _part(path, shown, lines, mark, most_bytes)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Unreadable(f"{shown} could not be read: {reason}") from error


def _whole(path: Path, shown: str, most_bytes: int) -> bytes:
    with path.open("rb") as file:
        # Not what stat says: a file may grow, and those of /proc have no size.
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        size = max(path.stat().st_size, len(data))
        raise Unreadable(
            f"{shown} was not read: it has {size / 1000:,.0f} kB, and at most"
            f" {most_bytes / 1000:,.0f} kB fit; name lines, as in {shown}:1-200"
        )
    return data


def _part(path: Path, shown: str, lines: tuple[int, int], mark: str, most_bytes: int) -> FileText:
    first, last = lines
    if mark in ("utf-16", "utf-32"):
        with path.open(encoding=mark, errors="replace", newline="") as text:
            part = "".join(_capped(islice(text, first - 1, last), shown, most_bytes))
        found = FileText(_plain_newlines(part))
    else:
        with path.open("rb") as file:
            data = b"".join(_capped(islice(file, first - 1, last), shown, most_bytes))
        found = _decoded(data, mark if first == 1 else "")
    if not found.text:
        raise Unreadable(f"{shown} was not read: the file has fewer than {first} lines")
    return found


def _capped(lines: Iterable[_Line], shown: str, most: int) -> list[_Line]:
    taken: list[_Line] = []
    length = 0
    for line in lines:
        length += len(line)
        if length > most:
            raise Unreadable(
                f"{shown} was not read: these lines have more than {most / 1000:,.0f} kB;"
                " name fewer of them"
            )
        taken.append(line)
    return taken


def _decoded(data: bytes, mark: str) -> FileText:
    if mark:
        return FileText(_plain_newlines(data.decode(mark, "replace")))
    try:
        return FileText(_plain_newlines(data.decode("utf-8")))
    except UnicodeDecodeError:
        return FileText(_plain_newlines(data.decode("latin-1")), "it is not UTF-8: read as Latin-1")


def _plain_newlines(text: str) -> str:
    # A NUL in a text ends it for some readers.
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")

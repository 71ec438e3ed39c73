"""How wide text is on the screen, and what takes one place there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rich.cells import cell_len, get_character_cell_size
from rich.segment import Segment
from rich.style import Style

JOINER: Final = "\u200d"
"""Rich takes the character after one for a part of an emoji and does not count it. Where words are
written with it (Sinhala, Persian) it counts, so a segment ends after each of them."""

_TAB_OR_NEWLINE: Final = re.compile(r"[\t\n]")


def cells(text: str) -> int:
    """Width of ``text``, which has no control characters."""
    if text.isascii():
        return len(text)
    if JOINER in text:
        return sum(map(get_character_cell_size, text))
    return cell_len(text)


def fitting(text: str, start: int, width: int) -> tuple[int, int]:
    """Where the part of ``text`` from ``start`` on that fits into ``width`` cells ends, and its
    width. It is at least one character, with the marks on it."""
    if text.isascii():
        end = min(len(text), start + max(width, 1))
        return end, end - start
    used = 0
    for index in range(start, len(text)):
        size = get_character_cell_size(text[index])
        if size and used + size > width and index > start:
            return index, used
        used += size
    return len(text), used


def cut(text: str, width: int, ellipsis: str) -> str:
    """The beginning of ``text`` that fits into ``width`` cells; an ellipsis says if it is not all.
    A part of the ellipsis if not even that fits."""
    if cells(text) <= width:
        return text
    room = width - cells(ellipsis)
    if room < 1:
        return ellipsis[: max(0, width)]
    end, used = fitting(text, 0, room)
    return (text[:end] if used <= room else "") + ellipsis


def expand_tabs(text: str, size: int = 4) -> str:
    """``text`` with tabs replaced by as many blanks as lead to the next multiple of ``size``."""
    if "\t" not in text:
        return text
    if text.isascii():
        return text.expandtabs(size)
    parts: list[str] = []
    column = at = 0
    for stop in _TAB_OR_NEWLINE.finditer(text):
        before = text[at : stop.start()]
        at = stop.end()
        column += cells(before)
        if stop.group() == "\n":
            filling, column = "\n", 0
        else:
            filling = " " * (size - column % size)
            column += len(filling)
        parts += (before, filling)
    return "".join((*parts, text[at:]))


def segments(text: str, style: Style) -> Iterator[Segment]:
    """``text`` as segments whose widths Rich counts as a terminal does."""
    if JOINER not in text:
        yield Segment(text, style)
        return
    *joined, last = text.split(JOINER)
    for part in joined:
        yield Segment(part + JOINER, style)
    if last:
        yield Segment(last, style)

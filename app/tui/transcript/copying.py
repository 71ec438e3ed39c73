"""The text of painted lines, as it is copied: without decoration, and without the breaks that only
the width of the screen made."""

from __future__ import annotations

from typing import Final

from textual.geometry import Offset

from gemma_local.app.tui.lines.cells import cells
from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.transcript.layout import Layout, Place
from gemma_local.app.tui.transcript.painting import GUTTER

_BITS: Final = 20


def row_of(place: Place) -> int:
    """A number for a place that grows downwards and stays when heights above it change, which a
    number of lines from the top would not."""
    return place.index << _BITS | place.line


def place_of(row: int) -> Place:
    """The place that ``row_of`` made the number of."""
    return Place(row >> _BITS, row & ((1 << _BITS) - 1))


def text_bounds(line: Line) -> tuple[int, int]:
    """From where to where the characters of a line are text and not decoration."""
    if not line.lead and not line.tail:
        return 0, len(line.text)
    text, start, end = line.text, 0, len(line.text)
    lead, tail = line.lead, line.tail
    while start < end and lead > 0:
        lead -= cells(text[start])
        start += 1
    while end > start and tail > 0:
        end -= 1
        tail -= cells(text[end])
    return start, end


def text_between(layout: Layout, start: Offset | None, end: Offset | None) -> str:
    """What is selected. An offset is a character of a row, the gutter counted; None stands for the
    beginning and the end of everything."""
    first = place_of(start.y) if start is not None else Place(0, 0)
    last = place_of(end.y) if end is not None else Place(len(layout.items), 0)
    parts: list[str] = []
    for index in range(first.index, min(last.index, len(layout.items) - 1) + 1):
        lines, gap = layout.lines(index), layout.gap(index)
        if not lines:
            continue
        begin = first.line if index == first.index else 0
        stop = last.line if index == last.index else gap + len(lines) - 1
        for row in range(begin, min(stop, gap + len(lines) - 1) + 1):
            if row < gap:
                parts.append("\n")
                continue
            line = lines[row - gap]
            if _is_label(line):
                continue
            is_first = start is not None and (index, row) == (first.index, first.line)
            is_last = end is not None and (index, row) == (last.index, last.line)
            low, high = text_bounds(line)
            if is_first and start is not None:
                low = max(low, start.x - GUTTER)
            if is_last and end is not None:
                high = min(high, end.x - GUTTER)
            parts.append(line.text[low:high])
            if not is_last:
                parts.append(line.joint if line.continues else "\n")
    return "".join(parts)


def _is_label(line: Line) -> bool:
    """Whether there is nothing on a line but words that are not text: it is no empty line, then."""
    return line.lead >= line.cells and any(map(str.isalnum, line.text))

"""Tables, fitted into a width."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from rich.style import Style

from gemma_local.app.tui.glyphs import Glyphs
from gemma_local.app.tui.lines.cells import cells
from gemma_local.app.tui.lines.frame import Frame
from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.lines.run import Run, parts, text_of, to_segments, width_of
from gemma_local.app.tui.lines.wrap import broken, wrap
from gemma_local.app.tui.palette import Palette

GAP: Final = 2
"""Blanks between columns."""
NARROWEST: Final = 8
"""Where a column would have to be narrower than this, and than its text, the table is a list."""

Cell: TypeAlias = list[Run]


@dataclass(frozen=True, slots=True)
class Table:
    """Cells as runs; each row has as many as ``head``. ``right`` are the columns whose text stands
    at the right, ``centre`` those where it stands in the middle."""

    head: list[Cell]
    rows: list[list[Cell]]
    right: frozenset[int]
    centre: frozenset[int]


def render_table(table: Table, frame: Frame, palette: Palette, glyphs: Glyphs) -> list[Line]:
    """The table with a rule below its head. Where the width does not do for columns each row is a
    list of "head: cell"."""
    widths = _widths(table, frame.room)
    if widths is None:
        return _as_list(table, frame, palette)
    rows = [_row(row, widths, table) for row in (table.head, *table.rows)]
    # Rows of several lines would run into each other.
    apart = any(len(row) > 1 for row in rows[1:])
    total = sum(widths) + GAP * (len(widths) - 1)
    lines: list[Line] = []
    for number, row in enumerate(rows):
        for runs in row:
            lead = frame.lead()
            lines.append(Line(tuple(to_segments((*lead, *runs))), lead=width_of(lead)))
        if number == 0 or (apart and number + 1 < len(rows)):
            rule = (*frame.lead(), (glyphs.rule * total, palette.faint))
            lines.append(Line(tuple(to_segments(rule)), lead=width_of(rule)))
    return lines


def _widths(table: Table, room: int) -> list[int] | None:
    """Of the columns: as wide as their text where that fits; else those that are widest give way.
    None where they would become too narrow."""
    columns = zip(table.head, *table.rows, strict=True)
    wanted = [max(_natural(cell) for cell in column) for column in columns]
    room -= GAP * (len(wanted) - 1)
    if sum(wanted) <= room:
        return wanted
    most = NARROWEST
    if sum(min(width, most) for width in wanted) > room:
        return None
    while sum(min(width, most + 1) for width in wanted) <= room:
        most += 1
    widths = [min(width, most) for width in wanted]
    # What one cell each does not divide evenly goes to the first that want it.
    for column, width in enumerate(wanted):
        if width > widths[column] and sum(widths) < room:
            widths[column] += 1
    return widths


def _natural(cell: Cell) -> int:
    return max(cells(line) for line in text_of(cell).split("\n"))


def _row(row: list[Cell], widths: list[int], table: Table) -> list[list[Run]]:
    """The lines of a row."""
    columns = [_wrapped(cell, width) for cell, width in zip(row, widths, strict=True)]
    lines: list[list[Run]] = []
    for number in range(max(len(column) for column in columns)):
        runs: list[Run] = []
        filling = 0
        for index, (column, width) in enumerate(zip(columns, widths, strict=True)):
            text = column[number] if number < len(column) else []
            free = max(width - width_of(text), 0)
            before = free if index in table.right else free // 2 if index in table.centre else 0
            if text:
                runs += [_blanks(filling + before), *text]
                filling = 0
                free -= before
            filling += free + GAP
        lines.append(runs)
    return lines


def _wrapped(cell: Cell, width: int) -> list[list[Run]]:
    spans: list[tuple[int, int]] = []
    start = 0
    for line in text_of(cell).split("\n"):
        spans += [(start + begin, start + end) for begin, end in broken(line, width, width)]
        start += len(line) + 1
    return parts(cell, spans)


def _blanks(count: int) -> Run:
    return " " * count, Style.null()


def _as_list(table: Table, frame: Frame, palette: Palette) -> list[Line]:
    lines: list[Line] = []
    for row in table.rows:
        if lines:
            lines.append(frame.blank())
        for head, cell in zip(table.head, row, strict=True):
            said = [*head, (": ", palette.table_head), *cell] if text_of(head).strip() else cell
            lines += wrap(said, frame.width, first=frame.lead(), rest=frame.lead())
    if not table.rows:
        for head in table.head:
            lines += wrap(head, frame.width, first=frame.lead(), rest=frame.lead())
    return lines

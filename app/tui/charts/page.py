"""A page of headings, facts, charts and tables, as lines of one width."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rich.segment import Segment
from rich.style import Style

from gemma_local.app.tui.charts.fit import fit
from gemma_local.app.tui.charts.ink import Ink
from gemma_local.app.tui.glyphs import Glyphs
from gemma_local.app.tui.lines.cells import cells
from gemma_local.app.tui.lines.line import EMPTY, Line
from gemma_local.app.tui.lines.wrap import broken

LEAST: Final = 16
NAME: Final = 18
"""Cells of a fact's name."""
_GAP: Final = 2
_NARROW: Final = 48
"""Below so many cells a fact stands under its name."""


class Page:
    """Lines that are added from the top on, of `LEAST` cells or more."""

    def __init__(self, width: int, ink: Ink, glyphs: Glyphs) -> None:
        self.width = max(width, LEAST)
        self.ink = ink
        self.glyphs = glyphs
        self.lines: list[Line] = []

    def heading(self, text: str, note: str = "") -> None:
        """The title of what follows, with ``note`` quietly at the right end."""
        if self.lines:
            self.blank()
        segments = [Segment(text, self.ink.heading)]
        blank = self.width - cells(text) - cells(note)
        if note and blank >= _GAP:
            segments += [Segment(" " * blank), Segment(note, self.ink.muted)]
        self.lines.append(Line(tuple(segments)))

    def blank(self) -> None:
        """An empty line."""
        self.lines.append(EMPTY)

    def add(self, lines: Iterable[Line]) -> None:
        """Lines that are made already, such as a chart's."""
        self.lines += lines

    def text(self, text: str, style: Style | None = None) -> None:
        """Running text, quietly unless there is a ``style``."""
        for line in _wrapped(text, self.width):
            self.lines.append(Line((Segment(line, style or self.ink.muted),)))

    def fact(self, name: str, text: str, note: str = "", style: Style | None = None) -> None:
        """A name and what is so called; ``note`` follows quietly, on a line of its own where there
        is no room for all of it."""
        is_narrow = self.width < _NARROW
        indent = _GAP if is_narrow else NAME
        room = max(self.width - indent, 1)
        rows = [[Segment(line, style or self.ink.text)] for line in _wrapped(text, room)]
        if note:
            if rows[-1][0].cell_length + _GAP + cells(note) <= room:
                rows[-1] += [Segment(" " * _GAP), Segment(note, self.ink.muted)]
            else:
                rows += [[Segment(line, self.ink.muted)] for line in _wrapped(note, room)]
        head = Segment(fit(name, self.width if is_narrow else indent, self.glyphs), self.ink.muted)
        if is_narrow:
            self.lines.append(Line((head,)))
            head = Segment(" " * indent)
        for row in rows:
            self.lines.append(Line((head, *row)))
            head = Segment(" " * indent)

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Columns under their headings, all to the right; those that find no room at the right end
        are left out."""
        columns = list(zip(header, *rows, strict=True))
        widths = [max(map(cells, column)) for column in columns]
        count = 0
        while count < len(widths) and sum(widths[: count + 1]) + _GAP * count <= self.width:
            count += 1
        for number, row in enumerate((header, *rows)):
            style = self.ink.text if number else self.ink.muted
            text = (" " * _GAP).join(
                cell.rjust(size) for cell, size in zip(row[:count], widths[:count], strict=True)
            )
            self.lines.append(Line((Segment(text, style),)))


def _wrapped(text: str, width: int) -> list[str]:
    return [text[start:end] for start, end in broken(text, width, width)]

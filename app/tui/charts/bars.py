"""Several bars under each other, with their figures beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.segment import Segment

from gemma_local.app.tui.charts.bar import bar
from gemma_local.app.tui.charts.fit import fit
from gemma_local.app.tui.charts.ink import Ink
from gemma_local.app.tui.glyphs import Glyphs
from gemma_local.app.tui.lines.cells import cells
from gemma_local.app.tui.lines.line import Line

_LEAST, _MOST = 4, 40
"""Cells of a bar."""
_GAP: Final = 2


@dataclass(frozen=True, slots=True)
class Bar:
    """``share`` is its length, from 0 to 1; ``figure`` says the same in text, ``note`` what else
    there is to know, which goes first where there is no room."""

    label: str
    share: float
    figure: str
    note: str = ""


def bars(rows: Sequence[Bar], width: int, ink: Ink, glyphs: Glyphs) -> list[Line]:
    """A line for each: label, bar, figure and note, in columns, at most ``width`` cells wide.

    In less than label, figure and the shortest bar take, bars are left out, and then labels cut.
    """
    if not rows:
        return []
    label = max(cells(row.label) for row in rows)
    figure = max(cells(row.figure) for row in rows)
    note = max(cells(row.note) for row in rows)
    rest = width - label - figure - 2 * _GAP
    has_notes = note > 0 and rest - note - _GAP >= _LEAST
    length = min(rest - (note + _GAP if has_notes else 0), _MOST)
    if length < _LEAST:
        label = max(min(label, width - figure - _GAP), 0)
    lines = []
    for row in rows:
        segments = [Segment(fit(row.label, label, glyphs), ink.muted), Segment(" " * _GAP)]
        if length >= _LEAST:
            segments += [*bar(row.share, length, ink.bar, ink.faint, glyphs), Segment(" " * _GAP)]
        segments.append(Segment(row.figure.rjust(figure), ink.text))
        if has_notes:
            segments += [Segment(" " * _GAP), Segment(row.note, ink.muted)]
        lines.append(Line(tuple(segments)))
    return lines

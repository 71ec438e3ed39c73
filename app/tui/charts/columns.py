"""A chart of columns over a line, with a scale at the left."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from rich.segment import Segment

from gemma_local.app.tui.charts.ink import Ink
from gemma_local.app.tui.glyphs import Glyphs
from gemma_local.app.tui.lines.line import Line

_ROUND: Final = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
_LEAST_TOP: Final = 0.1
_WIDEST: Final = 3
"""Cells of a column where there is room for more."""


def columns(
    values: Sequence[float],
    width: int,
    height: int,
    ink: Ink,
    glyphs: Glyphs,
    *,
    under: tuple[str, str] = ("", ""),
) -> list[Line]:
    """``height`` rows of columns from 0 up to a round number, then a line, then ``under``: what
    stands below the first column and below the last.

    Where there are more values than fit the last ones are shown. Nothing without a value.
    """
    if not values:
        return []
    left = _scale_width(scale_top(max(values)))
    room = max(width - left - 1, 1)
    shown = values[-room:]
    top = scale_top(max(shown))
    cell, gap = _measures(len(shown), room)
    steps = len(glyphs.columns)
    filled = [_filled(value, top, height * steps) for value in shown]
    lines = []
    for row in reversed(range(height)):
        text = "".join(_piece(count - row * steps, glyphs) * cell + " " * gap for count in filled)
        figure = _scale_figure(row, height, top)
        lines.append(
            Line((Segment(figure.rjust(left) + " ", ink.faint), Segment(text.rstrip(), ink.bar)))
        )
    length = len(shown) * (cell + gap) - gap
    lines.append(Line((Segment(" " * left + " "), Segment(glyphs.rule * length, ink.faint))))
    if any(under):
        first, last = under
        blank = max(length - len(first) - len(last), 1)
        text = f"{first}{' ' * blank}{last}" if last else first
        if len(text) > room:
            text = last[:room] or first[:room]
        lines.append(Line((Segment(" " * (left + 1)), Segment(text, ink.muted))))
    return lines


def scale_top(most: float) -> float:
    """A round number that is at least ``most``, but no less than 0.1: what is smaller is nothing
    on any scale that is shown here."""
    if not math.isfinite(most) or most < _LEAST_TOP:
        return _LEAST_TOP
    power = 10.0 ** math.floor(math.log10(most))
    return next((n * power for n in _ROUND if n * power >= most), 10 * power)


def _scale_width(top: float) -> int:
    return max(len(_figure(top)), len(_figure(top / 2)))


def _measures(count: int, room: int) -> tuple[int, int]:
    """Cells of a column and of the gap behind it."""
    gap = 1 if count * 2 - 1 <= room else 0
    return max(min((room + gap) // count - gap, _WIDEST), 1), gap


def _piece(steps: int, glyphs: Glyphs) -> str:
    """What a column that has ``steps`` left to go shows in one row."""
    return glyphs.columns[min(steps, len(glyphs.columns)) - 1] if steps > 0 else " "


def _filled(value: float, top: float, steps: int) -> int:
    """How many steps a column is high; what is more than nothing shows."""
    return max(round(value / top * steps), 1) if value > 0 else 0


def _scale_figure(row: int, height: int, top: float) -> str:
    if row == height - 1:
        return _figure(top)
    if height >= 5 and height % 2 and row == height // 2:
        return _figure(top / 2)
    return "0" if row == 0 and height > 1 else ""


def _figure(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"

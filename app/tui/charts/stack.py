"""Parts of a whole: one bar, and a line in text for each part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.segment import Segment
from rich.style import Style

from gemma_local.app.tui.charts.fit import fit
from gemma_local.app.tui.charts.ink import Ink
from gemma_local.app.tui.glyphs import Glyphs
from gemma_local.app.tui.lines.cells import cells
from gemma_local.app.tui.lines.line import Line

_SHARE: Final = 5
"""Cells of "100 %"."""
_FILLINGS: Final = 3
"""Of `Glyphs.shades`: the last is too much like what is free."""


@dataclass(frozen=True, slots=True)
class Part:
    """``amount`` in the same unit as the whole, ``figure`` the same in text. A part that
    ``is_free`` is drawn as what is left over."""

    label: str
    amount: float
    figure: str
    is_free: bool = False
    note: str = ""


def stack(
    parts: Sequence[Part], whole: float, width: int, ink: Ink, glyphs: Glyphs
) -> tuple[Segment, ...]:
    """The bar, exactly ``width`` cells wide as long as the parts are no more than the whole."""
    given = shares([part.amount for part in parts], whole, width)
    segments = [
        Segment(_mark(i, part, glyphs) * room, _style(i, part, ink))
        for i, (part, room) in enumerate(zip(parts, given, strict=True))
        if room
    ]
    rest = width - sum(segment.cell_length for segment in segments)
    return (
        (*segments, Segment(glyphs.shades[-1] * rest, ink.faint)) if rest > 0 else tuple(segments)
    )


def pointer(at: float, whole: float, text: str, width: int, ink: Ink, glyphs: Glyphs) -> Line:
    """A line below a bar that points at a place in it, with ``text`` beside the pointer."""
    place = min(max(round(at / whole * width), 0), width - 1) if whole > 0 else 0
    if place + 2 + cells(text) <= width:
        return Line(
            (Segment(" " * place), Segment(glyphs.up, ink.muted), Segment(f" {text}", ink.muted))
        )
    text = fit(text, min(cells(text), max(place - 1, 0)), glyphs)
    blank = max(place - cells(text) - 1, 0)
    return Line((Segment(" " * blank), Segment(f"{text} {glyphs.up}", ink.muted)))


def legend(parts: Sequence[Part], whole: float, width: int, ink: Ink, glyphs: Glyphs) -> list[Line]:
    """A line for each part: its mark, label, figure, share of the whole and note, in columns; notes
    only where there is room for all."""
    label = max((cells(part.label) for part in parts), default=0)
    figure = max((cells(part.figure) for part in parts), default=0)
    label = max(min(label, width - figure - _SHARE - 7), 1)
    taken = 2 + label + 2 + figure + 2 + _SHARE
    has_notes = all(taken + 2 + cells(part.note) <= width for part in parts)
    lines = []
    for i, part in enumerate(parts):
        share = part.amount / whole if whole > 0 else 0.0
        segments = [
            Segment(_mark(i, part, glyphs), _style(i, part, ink)),
            Segment(" "),
            Segment(fit(part.label, label, glyphs), ink.muted if part.is_free else ink.text),
            Segment(f"  {part.figure.rjust(figure)}", ink.text),
            Segment(f"  {percent(share):>{_SHARE}}", ink.muted),
        ]
        if part.note and has_notes:
            segments.append(Segment(f"  {part.note}", ink.muted))
        lines.append(Line(tuple(segments)))
    return lines


def shares(amounts: Sequence[float], whole: float, room: int) -> list[int]:
    """So many whole cells for each amount.

    As far as they go each has what it is due, and what is more than nothing has at least one.
    """
    if whole <= 0 or room <= 0:
        return [0] * len(amounts)
    due = [max(amount, 0.0) / whole * room for amount in amounts]
    given = [max(int(part), 1) if part > 0 else 0 for part in due]
    most = min(round(sum(due)), room)
    # The cells that rounding left over go to those that lack most.
    while sum(given) < most:
        given[max(range(len(due)), key=lambda i: due[i] - given[i])] += 1
    # What small parts were given beyond their due is taken from those that have most too much.
    least = min(sum(part > 0 for part in given), room)
    while sum(given) > max(most, least):
        given[max(range(len(due)), key=lambda i: (given[i] > 1, given[i] - due[i], given[i]))] -= 1
    return given


def percent(share: float) -> str:
    """ "3 %", and "<1 %" for what is more than nothing."""
    rounded = round(share * 100)
    return "<1 %" if share > 0 and not rounded else f"{rounded} %"


def _mark(i: int, part: Part, glyphs: Glyphs) -> str:
    return glyphs.shades[-1] if part.is_free else glyphs.shades[i % _FILLINGS]


def _style(i: int, part: Part, ink: Ink) -> Style:
    return ink.faint if part.is_free else ink.parts[i % len(ink.parts)]

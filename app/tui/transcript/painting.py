"""Lines as strips of a widget: with a gutter, and with styles laid over parts of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from gemma_local.app.tui.lines.line import Line

GUTTER: Final = 2
"""Cells, and characters, before the text."""


@dataclass(frozen=True, slots=True)
class Patch:
    """A style for the characters from ``start`` up to ``end``; None: up to the end."""

    start: int
    end: int | None
    style: Style


def gutter(mark: tuple[str, Style]) -> Segment:
    """The cells before a line. A mark that isn't one cell wide is left out."""
    text, style = mark
    return Segment(f"{text} ", style) if cell_len(text) == 1 else Segment(" " * GUTTER, style)


def strip_of(
    line: Line,
    before: Segment,
    base: Style,
    width: int,
    row: int,
    patches: Sequence[Patch] = (),
) -> Strip:
    """A line of the screen, ``width`` cells wide.

    ``base`` lies under all of it, and the patches, whose offsets count the gutter, over it. Each
    segment knows its offset, the characters before it and ``row``, by which text is selected.
    """
    segments: Iterable[Segment] = (before, *line.segments)
    for patch in patches:
        segments = _patched(segments, patch)
    # In one go, and not by the methods of a strip: each of them makes another strip.
    painted, cells, x = [], 0, 0
    for text, style, _ in segments:
        if text:
            offset = Style.from_meta({"offset": (x, row)})
            painted.append(Segment(text, base + style + offset if style else base + offset))
            cells += cell_len(text)
            x += len(text)
    if cells < width:
        painted.append(Segment(" " * (width - cells), base + Style.from_meta({"offset": (x, row)})))
    strip = Strip(painted, max(cells, width))
    return strip if cells <= width else strip.crop(0, width)


def _patched(segments: Iterable[Segment], patch: Patch) -> Iterator[Segment]:
    at = 0
    for segment in segments:
        text, style = segment.text, segment.style
        length = len(text)
        end = length if patch.end is None else min(length, max(0, patch.end - at))
        start = min(end, max(0, patch.start - at))
        at += length
        if start == end:
            yield segment
            continue
        over = style + patch.style if style else patch.style
        for part, part_style in (
            (text[:start], style),
            (text[start:end], over),
            (text[end:], style),
        ):
            if part:
                yield Segment(part, part_style)

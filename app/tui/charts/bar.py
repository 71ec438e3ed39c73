"""One horizontal bar."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style

from gemma_local.app.tui.glyphs import Glyphs


def bar_text(share: float, cells: int, glyphs: Glyphs) -> tuple[str, str]:
    """What is filled and what is empty of a bar that is full at a ``share`` of 1, together exactly
    ``cells`` wide.

    What is more than nothing shows, and what is less than all leaves something empty, where a
    part of a cell is enough for that.
    """
    steps = len(glyphs.bar) - 1
    share = min(max(share, 0.0), 1.0)
    filled = round(share * cells * steps)
    if 0 < share < 1 and cells * steps > 1:
        filled = min(max(filled, 1), cells * steps - 1)
    whole, part = divmod(filled, steps)
    text = glyphs.bar[-1] * whole + (glyphs.bar[part] if part else "")
    return text, glyphs.shades[-1] * (cells - len(text))


def bar(share: float, cells: int, style: Style, rest: Style, glyphs: Glyphs) -> tuple[Segment, ...]:
    """The same in two styles."""
    filled, empty = bar_text(share, cells, glyphs)
    pieces = ((filled, style), (empty, rest))
    return tuple(Segment(text, style) for text, style in pieces if text)

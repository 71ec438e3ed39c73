"""A course in one row of text."""

from __future__ import annotations

from collections.abc import Sequence

from gemma_local.app.tui.glyphs import Glyphs


def sparkline(values: Sequence[float], cells: int, glyphs: Glyphs) -> str:
    """The last ``cells`` values, from 0 to the largest of them, exactly so many cells wide; the
    newest is at the right."""
    shown = values[-cells:] if cells > 0 else ()
    most = max(shown, default=0.0)
    steps = len(glyphs.columns)
    heights = [max(round(value / most * steps), 1) if value > 0 else 0 for value in shown]
    return "".join(glyphs.columns[n - 1] if n else " " for n in heights).rjust(max(cells, 0))

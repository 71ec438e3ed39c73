"""Text in exactly so many cells."""

from __future__ import annotations

from gemma_local.app.tui.glyphs import Glyphs
from gemma_local.app.tui.lines.cells import JOINER, cells, fitting
from gemma_local.app.tui.lines.shown import shown_line


def fit(text: str, width: int, glyphs: Glyphs) -> str:
    """``text``, which may hold anything, in one line of ``width`` cells: filled up with blanks, or
    cut with an ellipsis at its end."""
    # A label is recognised without joiners too, and then everybody counts its cells alike.
    text = shown_line(text, ascii_only=glyphs.ellipsis.isascii()).replace(JOINER, "")
    if cells(text) > width:
        mark = glyphs.ellipsis if len(glyphs.ellipsis) < width else ""
        end, _ = fitting(text, 0, width - len(mark))
        text = text[:end] + mark
    if cells(text) > width:
        # A single character that is wider than the room.
        text = ""
    return text + " " * (width - cells(text))

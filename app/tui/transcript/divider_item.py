"""A line across: what is above it is another conversation, or another model's."""

from __future__ import annotations

from collections.abc import Sequence

from gemma_local.app.tui.lines.cells import cells, cut
from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.transcript.item import Item
from gemma_local.app.tui.transcript.look import Look
from gemma_local.app.tui.transcript.one_line import one_line


class DividerItem(Item):
    """``label`` says what begins here."""

    def __init__(self, label: str, *, entry: int | None = None) -> None:
        super().__init__(entry=entry)
        self.label = label

    def plain(self) -> str:
        return self.label

    def estimate(self, width: int) -> int:
        return 1

    def _paint(self, width: int, look: Look) -> Sequence[Line]:
        palette, glyphs = look.palette, look.glyphs
        label = cut(self.label, max(1, width - 6), glyphs.ellipsis)
        before = glyphs.rule * 2 + " "
        after = " " + glyphs.rule * (width - cells(before) - cells(label) - 1)
        runs = [(before, palette.faint), (label, palette.muted), (after, palette.faint)]
        line = one_line(runs, width, "")
        # Only the label is text.
        lead, tail = min(cells(before), line.cells), max(0, min(cells(after), line.cells))
        return [Line(line.segments, lead=lead, tail=tail)]

"""A summary that the model reads in place of what came before."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style

from gemma_local.app.tui.lines.line import EMPTY, Line
from gemma_local.app.tui.lines.markdown import code_blocks, render_markdown
from gemma_local.app.tui.transcript.item import TOGGLES, Item, Passage, rows_of
from gemma_local.app.tui.transcript.look import Look
from gemma_local.app.tui.transcript.one_line import one_line


class SummaryItem(Item):
    """One line that says that there is one; toggled, the summary itself."""

    def __init__(
        self,
        text: str,
        label: str = "what came before is summed up for the model",
        *,
        entry: int | None = None,
    ) -> None:
        super().__init__(entry=entry)
        self.text = text
        self.label = label
        self._is_open = False

    def mark(self, look: Look) -> tuple[str, Style]:
        glyph = look.glyphs.open if self._is_open else look.glyphs.closed
        return glyph, look.palette.muted + TOGGLES

    def toggle(self) -> bool:
        self._is_open = not self._is_open
        self._change()
        return True

    def code(self) -> Sequence[str]:
        return [block.text for block in code_blocks(self.text)]

    def plain(self) -> str:
        return self.text

    def passages(self) -> Sequence[Passage]:
        return Passage(self.label), Passage(self.text, is_folded=not self._is_open)

    def estimate(self, width: int) -> int:
        return 2 + rows_of(self.text, width) if self._is_open else 1

    def _paint(self, width: int, look: Look) -> Sequence[Line]:
        palette, glyphs = look.palette, look.glyphs
        head = one_line([(self.label, palette.muted + TOGGLES)], width, glyphs.ellipsis)
        if not self._is_open:
            return [head]
        return [head, EMPTY, *render_markdown(self.text, width, palette, glyphs)]

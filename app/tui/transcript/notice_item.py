"""A sentence of the app itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rich.style import Style

from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.lines.plain import render_plain
from gemma_local.app.tui.transcript.item import Item, rows_of
from gemma_local.app.tui.transcript.look import Look

Kind = Literal["quiet", "warning", "error"]


class NoticeItem(Item):
    """What the person should know: in passing, or so that they act upon it."""

    is_snug = True

    def __init__(self, sentence: str, kind: Kind = "quiet", *, entry: int | None = None) -> None:
        super().__init__(entry=entry)
        self.sentence = sentence
        self.kind = kind

    def mark(self, look: Look) -> tuple[str, Style]:
        glyphs = look.glyphs
        glyph = {"quiet": glyphs.notice, "warning": glyphs.warning, "error": glyphs.cross}
        return glyph[self.kind], self._style(look)

    def plain(self) -> str:
        return self.sentence

    def estimate(self, width: int) -> int:
        return rows_of(self.sentence, width)

    def _paint(self, width: int, look: Look) -> Sequence[Line]:
        return render_plain(self.sentence, width, self._style(look)) if self.sentence else ()

    def _style(self, look: Look) -> Style:
        palette = look.palette
        return {"quiet": palette.muted, "warning": palette.warning, "error": palette.error}[
            self.kind
        ]

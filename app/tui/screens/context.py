"""The page that shows what fills the context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from gemma_local.app.tui.charts.ink import Ink
from gemma_local.app.tui.charts.page import Page
from gemma_local.app.tui.charts.view import Write
from gemma_local.app.tui.glyphs import UNICODE, Glyphs
from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.status.context_facts import ContextFacts, context_page
from gemma_local.app.tui.status.page_screen import PageScreen


class ContextScreen(PageScreen):
    """Shows what it was given; ``show`` brings what was counted meanwhile."""

    class CompactAsked(Message):
        """The person wants room to be made now."""

    TITLE_TEXT = "Context"
    KEYS = (("Esc", "close"), ("m", "make room now"), ("c", "copy as text"))
    BINDINGS: ClassVar[list[BindingType]] = [Binding("m", "compact", "make room now")]

    def __init__(self, facts: ContextFacts | None = None, *, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(glyphs=glyphs)
        self._facts = facts

    def show(self, facts: ContextFacts) -> None:
        """What was counted."""
        self._facts = facts
        if self.is_mounted:
            self.renew()

    def written(self) -> Write:
        facts = self._facts

        def write(width: int, ink: Ink, glyphs: Glyphs) -> Sequence[Line]:
            page = Page(width, ink, glyphs)
            context_page(page, facts)
            return page.lines

        return write

    def action_compact(self) -> None:
        """Pass the wish on, and close."""
        self.app.post_message(self.CompactAsked())
        self.dismiss(None)

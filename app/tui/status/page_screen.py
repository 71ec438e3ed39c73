"""A page over everything else, to be read and closed."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Static

from gemma_local.app.tui.charts.view import LinesView, Write
from gemma_local.app.tui.glyphs import UNICODE, Glyphs


class PageScreen(ModalScreen[None]):
    """Lines under a title, scrolled with the keyboard, and a line that names the keys."""

    @dataclass
    class CopyAsked(Message):
        """The person wants ``text`` in the clipboard."""

        text: str

    DEFAULT_CSS = """
    PageScreen { align: center middle; background: $background 60%; }
    PageScreen > Vertical { width: 100%; max-width: 106; height: 100%; background: $surface; }
    PageScreen .title { height: 1; padding: 0 3; margin: 1 0; text-style: bold; color: $text; }
    PageScreen VerticalScroll { height: 1fr; padding: 0 1 0 3; scrollbar-size-vertical: 1; }
    PageScreen LinesView { padding: 0 2 0 0; }
    PageScreen .keys { height: 1; padding: 0 3; margin: 1 0 0 0; color: $text-muted; }
    PageScreen .keys, PageScreen .title { text-wrap: nowrap; text-overflow: ellipsis; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", "close"),
        Binding("c", "copy", "copy as text"),
        Binding("j", "scroll_by(1)", show=False),
        Binding("k", "scroll_by(-1)", show=False),
        Binding("g", "scroll_home", show=False),
        Binding("G,shift+g", "scroll_end", show=False),
    ]
    TITLE_TEXT: ClassVar[str] = ""
    KEYS: ClassVar[tuple[tuple[str, str], ...]] = (("Esc", "close"), ("c", "copy as text"))
    """Keys and what they do, for the last line."""

    def __init__(self, *, glyphs: Glyphs = UNICODE) -> None:
        super().__init__()
        self._glyphs = glyphs

    def compose(self) -> ComposeResult:
        glyphs = self._glyphs
        keys = (*self.KEYS, (f"{glyphs.up}{glyphs.down}", "scroll"))
        with Vertical():
            yield Static(self.TITLE_TEXT, classes="title", markup=False)
            with VerticalScroll():
                yield LinesView(self.written(), glyphs=glyphs)
            hint = "   ".join(f"{key} {what}" for key, what in keys)
            yield Static(hint, classes="keys", markup=False)

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    @abstractmethod
    def written(self) -> Write:
        """What makes the lines now; every page has its own."""

    def renew(self) -> None:
        """Show what has changed."""
        self.query_one(LinesView).write(self.written())

    def action_close(self) -> None:
        """Back to what was before."""
        self.dismiss(None)

    def action_copy(self) -> None:
        """Hand the page over as text."""
        self.app.post_message(self.CopyAsked(self.query_one(LinesView).text))

    def action_scroll_by(self, lines: int) -> None:
        """Down, or up."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def action_scroll_home(self) -> None:
        """To the beginning."""
        self.query_one(VerticalScroll).scroll_home(animate=False)

    def action_scroll_end(self) -> None:
        """To the end."""
        self.query_one(VerticalScroll).scroll_end(animate=False)

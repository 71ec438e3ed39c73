"""What is proposed, on the whole screen."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Static

from gemma_local.app.tui.glyphs import Glyphs
from gemma_local.app.tui.lines_pane import LinesPane, Make


class DetailsScreen(ModalScreen[None]):
    """Lines to scroll through; it answers nothing and goes back to what asked."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,d,q,enter", "dismiss", "Back", show=False),
        Binding("k", "scroll(-1)", "Up", show=False),
        Binding("j", "scroll(1)", "Down", show=False),
        Binding("space", "page", "Page", show=False),
    ]
    DEFAULT_CSS = """
    DetailsScreen { background: $background; padding: 1 2; }
    DetailsScreen Static { height: auto; max-height: 4; width: 1fr; }
    DetailsScreen .title { text-style: bold; }
    DetailsScreen .hint { color: $text-muted; }
    DetailsScreen LinesPane { height: 1fr; margin: 1 0; }
    """

    def __init__(self, title: str, make: Make, glyphs: Glyphs) -> None:
        super().__init__()
        self._title = title
        self._make = make
        self._glyphs = glyphs

    def compose(self) -> ComposeResult:
        yield Static(self._title, classes="title", markup=False)
        yield LinesPane(self._make, most=160)
        arrows = f"{self._glyphs.up}{self._glyphs.down}"
        hint = f" {self._glyphs.dot} ".join((f"{arrows} Page Up/Down scroll", "Esc back"))
        yield Static(hint, classes="hint", markup=False)

    def action_scroll(self, by: int) -> None:
        """Scroll by a line."""
        self.query_one(LinesPane).scroll_relative(y=by, animate=False)

    def action_page(self) -> None:
        """Scroll by a page."""
        self.query_one(LinesPane).action_page_down()

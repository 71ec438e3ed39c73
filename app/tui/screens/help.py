"""The help: keys as they are now, commands, and where files lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from gemma_local.app.tui.commands.keys import KEYS, Key
from gemma_local.app.tui.glyphs import UNICODE, Glyphs
from gemma_local.app.tui.lines.line import EMPTY, Line
from gemma_local.app.tui.lines.plain import render_plain
from gemma_local.app.tui.lines.shown import shown_line
from gemma_local.app.tui.lines.wrap import wrap
from gemma_local.app.tui.lines_pane import LinesPane, Make
from gemma_local.app.tui.palette import Palette
from gemma_local.app.tui.screens.help_text import (
    Row,
    Section,
    help_sections,
    matching,
    version_text,
)

_NAME: Final = 33
"""Cells of a row's name."""
_NARROW: Final = 60
"""Below so many cells a row's text stands under its name."""


class HelpScreen(ModalScreen[None]):
    """Lists everything; typing leaves what fits."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1", "dismiss", "Back", show=False),
        Binding("up", "scroll(-1)", "Up", show=False),
        Binding("down", "scroll(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("ctrl+home", "ends(-1)", "Start", show=False),
        Binding("ctrl+end", "ends(1)", "End", show=False),
    ]
    DEFAULT_CSS = """
    HelpScreen { background: $background; padding: 1 2 0 2; }
    HelpScreen .title { text-style: bold; color: $primary; height: 1; }
    HelpScreen Input { background: transparent; margin: 1 0; }
    HelpScreen LinesPane { height: 1fr; }
    HelpScreen .hint { color: $text-muted; height: 1; margin: 1 0 0 0; }
    """

    def __init__(self, keys: Sequence[Key] = KEYS, *, glyphs: Glyphs = UNICODE) -> None:
        """``keys`` is the table with the person's own keys in it, see ``chosen_keys``."""
        super().__init__()
        self._sections = help_sections(keys)
        self._glyphs = glyphs

    def compose(self) -> ComposeResult:
        yield Static(version_text(), classes="title", markup=False)
        yield Input(placeholder="type to search", compact=True)
        pane = LinesPane(page(self._sections))
        pane.can_focus = False
        yield pane
        dot, arrows = f" {self._glyphs.dot} ", f"{self._glyphs.up}{self._glyphs.down}"
        yield Static(
            dot.join((f"{arrows} Page Up/Down scroll", "Esc back")), classes="hint", markup=False
        )

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    @on(Input.Changed)
    def _search(self, event: Input.Changed) -> None:
        event.stop()
        self.query_one(LinesPane).show(page(matching(self._sections, event.value)))

    def action_scroll(self, by: int) -> None:
        """Scroll by lines."""
        self.query_one(LinesPane).scroll_relative(y=by, animate=False)

    def action_page(self, by: int) -> None:
        """Scroll by pages."""
        pane = self.query_one(LinesPane)
        pane.scroll_relative(y=by * max(pane.size.height - 1, 1), animate=False)

    def action_ends(self, which: int) -> None:
        """Go to the beginning or the end."""
        pane = self.query_one(LinesPane)
        pane.scroll_to(y=0 if which < 0 else pane.max_scroll_y, animate=False)


def page(sections: Sequence[Section]) -> Make:
    """The sections as lines."""

    def make(width: int, palette: Palette) -> Sequence[Line]:
        lines: list[Line] = []
        for section in sections:
            lines += [EMPTY] if lines else []
            lines += render_plain(section.heading, width, palette.heading)
            for row in section.rows:
                lines += _row(row, width, palette)
        if not lines:
            lines += render_plain("nothing here has that word", width, palette.muted)
        return lines

    return make


def _row(row: Row, width: int, palette: Palette) -> list[Line]:
    name, text = shown_line(row.name), shown_line(row.text)
    if width < _NARROW or len(name) > _NAME - 2:
        indent = [("    ", palette.muted)]
        below = wrap([(text, palette.muted)], width, first=indent, rest=indent)
        return [*wrap([(name, palette.text)], width), *below]
    first = [(name.ljust(_NAME), palette.text)]
    rest = [(" " * _NAME, palette.muted)]
    return wrap([(text, palette.muted)], width, first=first, rest=rest)

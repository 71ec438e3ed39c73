"""A list of rows in columns, under their titles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import Resize
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from gemma_local.app.sessions.titles import one_line
from gemma_local.app.tui.glyphs import Glyphs
from gemma_local.app.tui.lines.cells import cut
from gemma_local.app.tui.screens.columns import Column, Layout, Row, lay_out

MUTED: Final = "$foreground 60%"
"""For parts of a text: ``$text-muted`` is known where the background is, in style sheets only."""
FAINT: Final = "$foreground 30%"

_STYLES: Final = {"": "", "muted": MUTED, "marked": "bold"}


class Options(OptionList, can_focus=False):
    """The rows. The keyboard stays where it is typed; whoever has it moves the highlight."""

    DEFAULT_CSS = """
    Options {
        height: 1fr;
        border: none;
        padding: 0;
        background: transparent;
        scrollbar-size-vertical: 1;
        & > .option-list--option { padding: 0 1; }
        & > .option-list--option-highlighted {
            color: $foreground;
            background: $primary 25%;
            text-style: none;
        }
        & > .option-list--option-hover { background: $primary 10%; }
    }
    """


class Rows(Vertical):
    """Shows rows. Posts what its ``OptionList`` posts, with the row's key as the option's id."""

    DEFAULT_CSS = """
    Rows {
        & > #titles { height: 1; padding: 0 1; color: $text-muted; }
    }
    """

    def __init__(self, columns: Sequence[Column], glyphs: Glyphs, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._columns = tuple(columns)
        self._glyphs = glyphs
        self._rows: tuple[Row, ...] = ()
        self._width = 0

    def compose(self) -> ComposeResult:
        """The titles, and under them the list."""
        yield Static(id="titles", markup=False)
        yield Options(markup=False)

    @property
    def options(self) -> Options:
        """The list itself."""
        return self.query_one(Options)

    @property
    def key(self) -> str | None:
        """Of the row that is highlighted."""
        option = self.options.highlighted_option
        return option.id if option is not None else None

    def show(self, rows: Sequence[Row], key: str | None = None) -> None:
        """Show these rows, and highlight the one with ``key``, else the first."""
        self._rows = tuple(rows)
        self._paint(key)

    def move(self, action: str) -> None:
        """Move the highlight: "cursor_up", "cursor_down", "page_up", "page_down", "first",
        "last"."""
        getattr(self.options, f"action_{action}")()

    def on_resize(self, _: Resize) -> None:
        """Lay the columns out anew."""
        if self.options.scrollable_content_region.width != self._width:
            self._paint(self.key)

    def _paint(self, key: str | None) -> None:
        # The scrollbar's cell stays free, so that columns don't move when one comes.
        self._width = self.options.scrollable_content_region.width
        width = max(1, self.size.width - 3)
        layout = lay_out(self._columns, self._rows, width, self._glyphs.ellipsis)
        self.query_one("#titles", Static).update(layout.header, layout=False)
        keys = [row.key for row in self._rows]
        with self.prevent(OptionList.OptionHighlighted):
            self.options.set_options(
                Option(self._prompt(row, layout, width), id=row.key) for row in self._rows
            )
        if keys:
            self.options.highlighted = keys.index(key) if key in keys else 0

    def _prompt(self, row: Row, layout: Layout, width: int) -> Content:
        line = Content.styled(layout.line(row.cells), _STYLES[row.tone])
        if not row.below:
            return line
        below = cut(one_line(row.below), width - 2, self._glyphs.ellipsis)
        return Content("\n").join([line, Content.styled(f"  {below}", MUTED)])

"""What is offered while somebody writes, in a few lines above the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len, set_cell_size
from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from gemma_local.app.tui.composer.suggestions import Suggestion
from gemma_local.app.tui.glyphs import UNICODE, Glyphs

MOST_ROWS: Final = 8
_WIDEST_LABEL: Final = 0.7
_GAP: Final = 2
_QUIET: Final = "$foreground 65%"


class Completion(Widget):
    """Suggestions, one of them chosen. It lies over what is above it and never has the focus."""

    DEFAULT_CSS = """
    Completion {
        display: none;
        overlay: screen;
        width: 100%;
        max-width: 100;
        background: $panel;
        color: $foreground;
    }
    """
    can_focus = False
    ALLOW_SELECT = False

    @dataclass
    class Picked(Message):
        """A line was clicked; it is the chosen one now."""

    def __init__(self, glyphs: Glyphs = UNICODE) -> None:
        super().__init__()
        self._glyphs = glyphs
        self._suggestions: Sequence[Suggestion] = ()
        self._chosen = 0
        self._top = 0
        self._height = 0
        self._empty = ""

    @property
    def is_open(self) -> bool:
        """Whether anything is offered."""
        return bool(self.display)

    @property
    def chosen(self) -> Suggestion | None:
        """The line that is taken when it is accepted."""
        return self._suggestions[self._chosen] if self._suggestions else None

    def offer(self, suggestions: Sequence[Suggestion], *, empty: str = "") -> None:
        """Show suggestions, the first of them chosen; without any say ``empty`` or, if that is
        "", close."""
        self._suggestions, self._empty = suggestions, empty
        self._chosen = self._top = 0
        rows = min(max(len(suggestions), bool(empty)), self._most_rows())
        if self.display != (rows > 0):
            self.display = rows > 0
        if rows and rows != self._height:
            self._height = rows
            self.styles.height = rows
            self.styles.offset = (0, -rows)
        self.refresh()

    def close(self) -> None:
        """Offer nothing."""
        if self.display:
            self.offer(())

    def move(self, by: int) -> None:
        """Choose another line, going round at the ends."""
        if count := len(self._suggestions):
            self._chosen = (self._chosen + by) % count
            rows = self._rows()
            self._top = min(self._top, self._chosen)
            self._top = max(self._top, self._chosen - rows + 1)
            self.refresh()

    def render(self) -> Content:
        """The lines that there is room for."""
        # A blank at either side.
        width = self.content_size.width - 2
        if not self._suggestions:
            return Content.assemble(" ", (self._empty, _QUIET))
        shown = self._suggestions[self._top : self._top + self._rows()]
        hints = max(cell_len(suggestion.hint) for suggestion in shown)
        labels = max(cell_len(suggestion.label) for suggestion in shown)
        most = width if not hints else max(int(width * _WIDEST_LABEL), width - hints - _GAP)
        columns = min(labels, most)
        return Content("\n").join(
            self._line(suggestion, columns, width, is_chosen=self._top + row == self._chosen)
            for row, suggestion in enumerate(shown)
        )

    def _line(
        self, suggestion: Suggestion, columns: int, width: int, *, is_chosen: bool
    ) -> Content:
        label, cut = _clipped(suggestion.label, columns, self._glyphs.ellipsis)
        line = Content(set_cell_size(label, columns))
        for mark in suggestion.marks:
            place = mark - cut
            if cut == 0 or place >= len(self._glyphs.ellipsis):
                line = line.stylize("bold $accent", place, place + 1)
        room = width - columns - _GAP
        if suggestion.hint and room > 0:
            hint = suggestion.hint
            if cell_len(hint) > room:
                dots = self._glyphs.ellipsis
                hint = set_cell_size(hint, max(0, room - cell_len(dots))) + dots
            line = Content.assemble(line, " " * _GAP, (hint, _QUIET))
        line = Content.assemble(" ", line, " " * max(0, 1 + width - line.cell_length))
        return line.stylize_before("on $primary 25%") if is_chosen else line

    def _most_rows(self) -> int:
        """Above the text there is only so much of the screen."""
        parent = self.parent
        above = parent.region.y if isinstance(parent, Widget) else MOST_ROWS
        return max(1, min(MOST_ROWS, above))

    def _rows(self) -> int:
        return max(1, self.content_size.height)

    def on_click(self, event: events.Click) -> None:
        """Take a line."""
        event.stop()
        row = self._top + event.y
        if 0 <= row < len(self._suggestions):
            self._chosen = row
            self.post_message(self.Picked())


def _clipped(label: str, columns: int, ellipsis: str) -> tuple[str, int]:
    """``label`` in ``columns`` cells, the end of it if it is longer, and by how many characters its
    own are shifted to the left."""
    if cell_len(label) <= columns:
        return label, 0
    dots = cell_len(ellipsis)
    start = len(label)
    room = columns - dots
    while start > 0 and room >= cell_len(label[start - 1]):
        start -= 1
        room -= cell_len(label[start])
    return ellipsis + label[start:], start - len(ellipsis)

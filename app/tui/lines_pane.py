"""A widget that shows lines made for its width, and scrolls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from rich.segment import Segment
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.palette import Palette

Make: TypeAlias = Callable[[int, Palette], Sequence[Line]]
"""Makes lines at most so many cells wide."""


class LinesPane(ScrollView, can_focus=True):
    """Shows what ``make`` gives for its width and the theme; made again only if these change."""

    DEFAULT_CSS = """
    LinesPane { height: auto; width: 1fr; background: transparent; scrollbar-size-vertical: 1; }
    """

    def __init__(self, make: Make, *, most: int = 100) -> None:
        """``most``: how many cells wide the lines become, however wide the screen is."""
        super().__init__()
        self._make = make
        self._most = most
        self._lines: Sequence[Line] = ()
        self._made_for: tuple[int, str] | None = None

    def show(self, make: Make) -> None:
        """Show something else, from its beginning."""
        self._make, self._made_for = make, None
        self._update(self.content_region.width)
        self.scroll_home(animate=False)
        self.refresh(layout=True)

    @property
    def text(self) -> str:
        """All lines, as text."""
        return "\n".join(line.text.rstrip() for line in self._lines)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many rows as there are lines at this width."""
        self._update(width)
        return len(self._lines)

    def on_resize(self) -> None:
        self._update(self.content_region.width)

    def render_line(self, y: int) -> Strip:
        self._update(self.content_region.width)
        width = self.scrollable_content_region.width
        row = y + self.scroll_offset.y
        if row >= len(self._lines):
            return Strip.blank(self.size.width, self.rich_style)
        segments = [Segment(text, style) for text, style, _ in self._lines[row].segments if text]
        return Strip(segments).adjust_cell_length(width).apply_style(self.rich_style)

    def _update(self, width: int) -> None:
        """Make the lines for a pane of this width, the scroll bar's room included: it is there or
        not, and the lines stay the same."""
        width -= self.styles.scrollbar_size_vertical
        key = width, self.app.theme
        if width > 0 and self._made_for != key:
            theme = self.app.current_theme
            palette = Palette.of(
                self.app.theme_variables, dark=theme.dark, ansi=self.app.native_ansi_color
            )
            self._lines = self._make(min(width, self._most), palette)
            self._made_for = key
            self.virtual_size = Size(width, len(self._lines))

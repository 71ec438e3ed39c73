"""A widget that shows lines made for its width."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Final, TypeAlias

from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from gemma_local.app.tui.charts.ink import Ink
from gemma_local.app.tui.glyphs import UNICODE, Glyphs
from gemma_local.app.tui.lines.line import Line

Write: TypeAlias = Callable[[int, Ink, Glyphs], Sequence[Line]]
"""Makes lines at most so many cells wide."""

MOST: Final = 100
"""Cells of the lines, however wide the screen is."""


class LinesView(Widget):
    """Shows what ``write`` makes of its width, as high as that is. It does not scroll itself."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "lines-view--text",
        "lines-view--strong",
        "lines-view--muted",
        "lines-view--faint",
        "lines-view--heading",
        "lines-view--bar",
        "lines-view--good",
        "lines-view--warning",
        "lines-view--error",
        "lines-view--part-1",
        "lines-view--part-2",
        "lines-view--part-3",
        "lines-view--part-4",
        "lines-view--part-5",
    }
    DEFAULT_CSS = """
    LinesView { height: auto; width: 1fr; }
    LinesView > .lines-view--text { color: $text; }
    LinesView > .lines-view--strong { color: $text; text-style: bold; }
    LinesView > .lines-view--muted { color: $text-muted; }
    LinesView > .lines-view--faint { color: $text-disabled; }
    LinesView > .lines-view--heading { color: $primary; text-style: bold; }
    LinesView > .lines-view--bar { color: $primary; }
    LinesView > .lines-view--good { color: $text-success; }
    LinesView > .lines-view--warning { color: $text-warning; }
    LinesView > .lines-view--error { color: $text-error; }
    LinesView > .lines-view--part-1 { color: $secondary; }
    LinesView > .lines-view--part-2 { color: $accent; }
    LinesView > .lines-view--part-3 { color: $success; }
    LinesView > .lines-view--part-4 { color: $primary; }
    LinesView > .lines-view--part-5 { color: $text-disabled; }
    """

    def __init__(self, write: Write, *, glyphs: Glyphs = UNICODE, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._write = write
        self._glyphs = glyphs
        self._lines: Sequence[Line] = ()
        self._made_for: tuple[int, Ink] | None = None

    def write(self, write: Write) -> None:
        """Show something else; what lies above and below moves only if the height has changed."""
        height = len(self._lines)
        self._write, self._made_for = write, None
        if self.content_size.width:
            self._make(self.content_size.width)
        self.refresh(layout=len(self._lines) != height)

    @property
    def text(self) -> str:
        """What is shown, as text."""
        return "\n".join(line.text.rstrip() for line in self._lines)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        self._make(width)
        return len(self._lines)

    def render_line(self, y: int) -> Strip:
        width = self.content_size.width
        self._make(width)
        if y >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        strip = Strip(self._lines[y].segments).adjust_cell_length(width)
        return strip.apply_style(self.rich_style)

    def _make(self, width: int) -> None:
        ink = self._ink()
        if self._made_for != (width, ink):
            self._lines = self._write(min(width, MOST), ink, self._glyphs)
            self._made_for = width, ink

    def _ink(self) -> Ink:
        style = self.get_component_rich_style
        return Ink(
            text=style("lines-view--text"),
            strong=style("lines-view--strong"),
            muted=style("lines-view--muted"),
            faint=style("lines-view--faint"),
            heading=style("lines-view--heading"),
            bar=style("lines-view--bar"),
            good=style("lines-view--good"),
            warning=style("lines-view--warning"),
            error=style("lines-view--error"),
            parts=tuple(style(f"lines-view--part-{n}") for n in range(1, 6)),
        )

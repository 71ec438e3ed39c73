"""The line at the bottom that says how fast it is and what that is due to."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from gemma_local.app.tui.glyphs import UNICODE, Glyphs
from gemma_local.app.tui.status.arrangement import GAP, arrange
from gemma_local.app.tui.status.fields import Form, fields
from gemma_local.app.tui.status.status import Status


class StatusLine(Widget):
    """One line, always: what is above it never moves.

    The measurements are at the left, where they come and go; what stays is at the right.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "status-line--text",
        "status-line--strong",
        "status-line--muted",
        "status-line--faint",
        "status-line--bar",
        "status-line--good",
        "status-line--warning",
        "status-line--error",
    }
    DEFAULT_CSS = """
    StatusLine { height: 1; width: 1fr; padding: 0 1; }
    StatusLine > .status-line--text { color: $text; }
    StatusLine > .status-line--strong { color: $text; text-style: bold; }
    StatusLine > .status-line--muted { color: $text-muted; }
    StatusLine > .status-line--faint { color: $text-disabled; }
    StatusLine > .status-line--bar { color: $primary; }
    StatusLine > .status-line--good { color: $text-success; }
    StatusLine > .status-line--warning { color: $text-warning; }
    StatusLine > .status-line--error { color: $text-error; }
    """

    def __init__(self, *, glyphs: Glyphs = UNICODE, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._glyphs = glyphs
        self._status = Status()
        self._styles: dict[str, Style] = {}

    @property
    def status(self) -> Status:
        """What is shown."""
        return self._status

    def show(self, status: Status) -> None:
        """Show this from now on; costs nothing if it is what was shown before."""
        if status != self._status:
            self._status = status
            self.refresh(layout=False)

    def render_line(self, y: int) -> Strip:
        width = self.content_size.width
        own = self.rich_style
        if y:
            return Strip.blank(width, own)
        arranged = arrange(fields(self._status, self._glyphs), width)
        segments = [
            *self._painted(arranged.left),
            Segment(" " * arranged.between),
            *self._painted(arranged.right),
        ]
        return Strip(segments).adjust_cell_length(width).apply_style(own)

    def _painted(self, forms: tuple[Form, ...]) -> list[Segment]:
        segments: list[Segment] = []
        for form in forms:
            if segments:
                segments.append(Segment(" " * GAP))
            segments += [Segment(text, self._style(role)) for text, role in form.pieces]
        return segments

    def _style(self, role: str) -> Style:
        # Textual works them out again each time the line is painted, which is most of that.
        if role not in self._styles:
            self._styles[role] = self.get_component_rich_style(f"status-line--{role}")
        return self._styles[role]

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles.clear()

"""A small app around a transcript."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from textual.app import App, ComposeResult
from textual.message import Message

from gemma_local.app.tui.glyphs import UNICODE
from gemma_local.app.tui.palette import Palette
from gemma_local.app.tui.themes import THEMES
from gemma_local.app.tui.transcript.item import Item
from gemma_local.app.tui.transcript.look import Look
from gemma_local.app.tui.transcript.transcript import Transcript

Kind = TypeVar("Kind", bound=Message)


class Host(App[None]):
    """Shows items, and keeps what the transcript says."""

    AUTO_FOCUS = None

    def __init__(self, items: Iterable[Item] = (), theme: str = "gemma-dark") -> None:
        super().__init__()
        for each in THEMES:
            self.register_theme(each)
        self.theme = theme
        self._items = list(items)
        self.heard: list[Message] = []

    @property
    def look(self) -> Look:
        variables = {**self.theme_variables, **self.current_theme.variables}
        palette = Palette.of(variables, dark=self.current_theme.dark, ansi=False)
        return Look(palette, UNICODE)

    def change_look(self, **changes: object) -> None:
        self.transcript.look = replace(self.transcript.look, **changes)  # type: ignore[arg-type]

    @property
    def transcript(self) -> Transcript:
        return self.query_one(Transcript)

    def compose(self) -> ComposeResult:
        yield Transcript(self.look)

    def on_mount(self) -> None:
        self.transcript.extend(self._items)

    def of(self, kind: type[Kind]) -> list[Kind]:
        """The messages of a kind that were heard."""
        return [message for message in self.heard if isinstance(message, kind)]

    def on_transcript_moved(self, message: Transcript.Moved) -> None:
        self.heard.append(message)

    def on_transcript_copy_asked(self, message: Transcript.CopyAsked) -> None:
        self.heard.append(message)

    def on_transcript_link_asked(self, message: Transcript.LinkAsked) -> None:
        self.heard.append(message)

    def on_transcript_rewind_asked(self, message: Transcript.RewindAsked) -> None:
        self.heard.append(message)

    def on_transcript_branch_asked(self, message: Transcript.BranchAsked) -> None:
        self.heard.append(message)

    def on_transcript_left(self, message: Transcript.Left) -> None:
        self.heard.append(message)


def painted(app: Host) -> list[str]:
    """The lines on the screen, without the scrollbar."""
    transcript = app.transcript
    return [transcript.render_line(y).text[:-1] for y in range(transcript.size.height)]

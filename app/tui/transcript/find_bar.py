"""A line to look for words in the transcript."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from gemma_local.app.tui.transcript.finder import Found
from gemma_local.app.tui.transcript.transcript import Transcript


class FindBar(Horizontal):
    """What is looked for, and how often it was found. While it is written the first place from the
    view on is shown."""

    DEFAULT_CSS = """
    FindBar {
        height: 1;
        background: $panel;
    }
    FindBar > Static { width: auto; padding: 0 1; color: $text-muted; }
    FindBar > Input {
        width: 1fr;
        height: 1;
        border: none;
        background: $panel;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,down", "next", "Next"),
        Binding("shift+enter,up", "previous", "Previous"),
        Binding("escape", "close", "Close"),
    ]

    class Closed(Message):
        """The person has found it, or does not look for it any more."""

    def __init__(
        self,
        transcript: Transcript,
        words: str = "",
        *,
        id: str | None = None,  # noqa: A002
    ) -> None:
        """``words`` are looked for at once."""
        super().__init__(id=id)
        self._transcript = transcript
        self._words = words

    def compose(self) -> ComposeResult:
        yield Static("find", markup=False)
        yield Input(self._words, compact=True, select_on_focus=True)
        yield Static("", markup=False, id="found")
        glyphs = self._transcript.look.glyphs
        keys = ("Enter next", f"{glyphs.up} before", "Esc back")
        yield Static(f" {glyphs.dot} ".join(keys), markup=False, id="keys")

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    def look_for(self, words: str) -> None:
        """Let the person go on searching, for ``words`` if there are any."""
        line = self.query_one(Input)
        line.value = words or line.value
        line.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if event.value:
            self._show(self._transcript.find(event.value))
        else:
            self._transcript.end_find()
            self._say("")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_next()

    def action_next(self) -> None:
        self._show(self._transcript.find_next())

    def action_previous(self) -> None:
        self._show(self._transcript.find_previous())

    def action_close(self) -> None:
        self._transcript.end_find()
        self.post_message(self.Closed())

    def _show(self, found: Found) -> None:
        if not self.query_one(Input).value:
            self._say("")
        elif found.count:
            self._say(f"{found.number:,} of {found.count:,}")
        else:
            self._say("not found")

    def _say(self, text: str) -> None:
        self.query_one("#found", Static).update(text)

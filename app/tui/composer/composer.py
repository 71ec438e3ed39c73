"""Where the person writes to the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from gemma_local.app.draft_text import DraftText
from gemma_local.app.prompt_history import HistoryWalk, PromptHistory
from gemma_local.app.sessions.titles import clipped, one_line
from gemma_local.app.tui.composer.completer import Completer
from gemma_local.app.tui.composer.completion import Completion
from gemma_local.app.tui.composer.external_editor import EditorFailed, edited
from gemma_local.app.tui.composer.prompt_area import PromptArea
from gemma_local.app.tui.composer.terminal_keys import teach_alt_enter
from gemma_local.app.tui.composer.token import Kind, kind_of
from gemma_local.app.tui.glyphs import UNICODE, Glyphs
from gemma_local.app.workspace.file_index import FileIndex
from gemma_local.app.written import Written

if TYPE_CHECKING:
    from typing import Self

    from gemma_local.app.tui.commands.command import Command

PLACEHOLDER: Final = "Write a message   / commands   @ files   ! shell"
_QUEUED_WIDTH: Final = 40
_SEARCH_MARK: Final = "?"
_SHELL_MARK: Final = "$"
"""Not the "!" that the text begins with: twice would look like a mistake."""


class Composer(Widget):
    """A prompt that is always ready: also while the model loads or answers.

    It keeps what is written where a crash does not reach it, and gives it out whole.
    """

    DEFAULT_CSS = """
    Composer {
        height: auto;
        background: $surface;
    }
    Composer > Horizontal {
        height: auto;
        padding: 0 1;
    }
    Composer .composer--mark {
        width: 2;
        color: $primary;
        text-style: bold;
    }
    Composer .composer--mark.-shell {
        color: $warning;
    }
    Composer .composer--queue {
        display: none;
        height: 1;
        padding: 0 1;
        color: $text-muted;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    """

    @dataclass
    class Sent(Message):
        """The person sent a text: ``text`` is all of it, with its first "/" or "!"."""

        text: str
        kind: Kind

        @property
        def command_line(self) -> str:
            """What stands behind the "!" of a text for the shell."""
            return self.text.removeprefix("!").strip()

    @dataclass
    class Unqueued(Message):
        """The person took the last of the waiting texts back; it is theirs to write on."""

        text: str

    def __init__(
        self,
        history: PromptHistory,
        drafts: DraftText,
        files: FileIndex,
        commands: Sequence[Command],
        *,
        editor: str = "",
        glyphs: Glyphs = UNICODE,
        placeholder: str = PLACEHOLDER,
        id: str | None = None,  # noqa: A002 - Textual's name for it
    ) -> None:
        """``editor`` is the command of the person's own, "" for the environment's."""
        super().__init__(id=id)
        teach_alt_enter()
        self._editor = editor
        self._history = history
        self._drafts = drafts
        self._files = files
        self._glyphs = glyphs
        self._texts: list[Written] = []
        self._walk: HistoryWalk | None = None
        self._queue: list[str] = []
        self._told: set[str] = set()
        self._area = PromptArea(files.folder, placeholder=placeholder)
        self._popup = Completion(glyphs)
        self._shown_mark = glyphs.prompt
        self._mark = Static(glyphs.prompt, classes="composer--mark", markup=False)
        self._waiting = Static("", classes="composer--queue", markup=False)
        self._completer = Completer(self._area, self._popup, commands, files)
        self._area.intercept = self._completer.takes

    def compose(self) -> ComposeResult:
        yield self._popup
        yield self._waiting
        with Horizontal():
            yield self._mark
            yield self._area

    def on_mount(self) -> None:
        self._files.warm()
        self.run_worker(
            self._remember, thread=True, exclusive=True, group="remember", exit_on_error=False
        )

    # ------------------------------------------------------------------------ for the one around

    @property
    def text(self) -> str:
        """All that is written, pasted texts in full."""
        return self._area.written.text

    @property
    def has_text(self) -> bool:
        """Whether anything is written, be it blanks."""
        return bool(self._area.text)

    def insert(self, text: str) -> None:
        """Put ``text`` where the cursor is, as if it was pasted."""
        self._area.paste(text)

    def write(self, text: str) -> None:
        """Put ``text`` in the place of all that is written."""
        self._show(Written(text))

    def give_back(self, text: str) -> bool:
        """Put ``text`` where the person writes, before what is written there already; whether
        there is something.

        Not behind it: in "!make" it would become a command of the shell.
        """
        self._leave_search()
        if self.text.strip():
            self._area.put_before(text)
            return True
        self.write(text)
        return False

    def clear(self) -> None:
        """Throw away what is written."""
        self._leave_search()
        self._area.forget()
        self._walk = None

    def clear_by_key(self) -> bool:
        """Throw away what is written, so that undoing brings it back; whether there was any."""
        if not self.has_text and not self._completer.is_searching:
            return False
        self._leave_search()
        self._area.clear()
        self._walk = None
        return True

    def focus(self, scroll_visible: bool = True) -> Self:
        """Let the keys go to the text."""
        self._area.focus(scroll_visible)
        return self

    def set_queue(self, texts: Sequence[str]) -> None:
        """Show what was sent and waits, the first to go first."""
        self._queue = list(texts)
        self._waiting.display = bool(texts)
        if texts:
            parts = [clipped(one_line(text), _QUEUED_WIDTH) for text in texts]
            between = f" {self._glyphs.dot} "
            line = f"{len(texts)} waiting ({self._glyphs.up} takes back): {between.join(parts)}"
            self._waiting.update(Content(line))

    def edit_externally(self) -> None:
        """Write on in the person's own editor, until it is left."""
        self._leave_search()
        before = self._area.written
        try:
            after = edited(self.app, before.text, self._editor)
        except EditorFailed as error:
            self.notify(str(error), severity="warning", markup=False)
            return
        if after != before.text:
            self._show(self._area.pastes.found_in(after))

    # ----------------------------------------------------------------------------------- events

    @on(PromptArea.Sent)
    def _send(self, event: PromptArea.Sent) -> None:
        event.stop()
        text = event.written.text
        self._keep_in_history(event.written)
        self._walk = None
        self._drafts.keep(self._area.written)
        self.post_message(self.Sent(text, kind_of(text)))

    @on(PromptArea.Changed)
    def _changed(self, event: PromptArea.Changed) -> None:
        event.stop()
        self._completer.update()
        self._update_mark()
        if not self._completer.is_searching:
            self._drafts.keep(self._area.written)
        self._tell_problem()

    @on(PromptArea.SelectionChanged)
    def _cursor_moved(self, event: PromptArea.SelectionChanged) -> None:
        event.stop()
        if not self._completer.is_searching:
            self._completer.update()

    @on(PromptArea.AtEdge)
    def _go_through_history(self, event: PromptArea.AtEdge) -> None:
        event.stop()
        if event.up and self._queue and not self.has_text:
            text = self._queue[-1]
            self.set_queue(self._queue[:-1])
            self._show(Written(text))
            self.post_message(self.Unqueued(text))
            return
        if self._walk is None:
            self._walk = HistoryWalk(self._texts)
        shown = self._area.written
        found = self._walk.up(shown) if event.up else self._walk.down(shown)
        if found is not None:
            self._area.write(found)
            if event.up and self._area.wrapped_document.height > 1:
                # So that the next one is one key away.
                self._area.move_cursor((0, 0))

    @on(PromptArea.HistoryWanted)
    def _search(self, event: PromptArea.HistoryWanted) -> None:
        event.stop()
        self._completer.search(self._texts)
        self._update_mark()

    @on(PromptArea.EditorWanted)
    def _open_editor(self, event: PromptArea.EditorWanted) -> None:
        event.stop()
        self.edit_externally()

    @on(Completion.Picked)
    def _picked(self, event: Completion.Picked) -> None:
        event.stop()
        self._completer.accept()
        self.focus()

    # ---------------------------------------------------------------------------------- history

    def _remember(self) -> None:
        """In a thread of its own: read what was written before."""
        texts = self._history.texts()
        left = self._drafts.take_over()
        self.call_later(self._remembered, texts, left)

    def _remembered(self, texts: list[Written], left: Written | None) -> None:
        # What was sent since is newer.
        self._texts = [*texts, *(written for written in self._texts if written not in texts[-9:])]
        if left is None:
            return
        if self.has_text:
            self._keep_in_history(left)
            self._drafts.keep(self._area.written)
            self.notify(f"{self._glyphs.up} brings back what was left unsent.", markup=False)
        else:
            self._show(left)

    def _keep_in_history(self, written: Written) -> None:
        if not self._texts or self._texts[-1] != written:
            self._texts.append(written)
        try:
            self._history.append(written)
        except OSError as error:
            self._tell_once(f"What you write is not remembered: {error.strerror or error}.")

    def _show(self, written: Written) -> None:
        self._leave_search()
        self._walk = None
        self._area.write(written)

    def _leave_search(self) -> None:
        if self._completer.is_searching:
            self._completer.dismiss()

    def _update_mark(self) -> None:
        is_shell = self._area.text.startswith("!")
        mark = _SHELL_MARK if is_shell else self._glyphs.prompt
        if self._completer.is_searching:
            mark = _SEARCH_MARK
        if mark != self._shown_mark:
            self._shown_mark = mark
            self._mark.set_class(mark == _SHELL_MARK, "-shell")
            self._mark.update(mark)

    def _tell_problem(self) -> None:
        if problem := self._drafts.problem:
            self._tell_once(f"{problem[:1].upper()}{problem[1:]}.")

    def _tell_once(self, sentence: str) -> None:
        if sentence not in self._told:
            self._told.add(sentence)
            self.notify(sentence, severity="warning", markup=False)

"""Renaming and deleting conversations in the list of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.message import Message
from textual.widgets import Input

from gemma_local.app.sessions.entry import SessionInfo
from gemma_local.app.tui.glyphs import Glyphs
from gemma_local.app.tui.screens.list_screen import ListScreen
from gemma_local.app.tui.screens.looking import telling

if TYPE_CHECKING:
    from gemma_local.app.sessions.store import SessionStore


class SessionChanges(ListScreen[str | None]):
    """The part of the list that writes; ``SessionPicker`` is the rest, and has the keys."""

    DEFAULT_CSS = """
    SessionChanges {
        & > #frame > #title { display: none; }
        &.-renaming > #frame > #title { display: block; }
        &.-renaming > #frame > #filter { display: none; }
    }
    """

    @dataclass
    class Changed(Message):
        """Something was renamed or deleted; a sentence about it or ""."""

        sentence: str

    @dataclass
    class Failed(Message):
        """What went wrong, as a sentence; the session that is gone nevertheless."""

        sentence: str
        gone: str = ""

    def __init__(
        self,
        store: SessionStore,
        current: str | None,
        remove_states: Callable[[str], None],
        glyphs: Glyphs,
    ) -> None:
        super().__init__(glyphs=glyphs)
        self.store = store
        self.current = current
        """The session that this program has open."""
        self.sessions: dict[str, SessionInfo] = {}
        """Those that are shown, by id."""
        self.open_ids: Set[str] = frozenset()
        """Those of them that some program has open."""
        self.renamed: str | None = None
        """The session whose title is typed."""
        self.to_delete: str | None = None
        """The session for whose deletion the key was pressed once."""
        self._remove_states = remove_states
        self._going: set[str] = set()
        """Those that are just being deleted."""

    def compose_more(self) -> ComposeResult:
        """A line for a new title."""
        yield Input(id="title", placeholder="the new title", compact=True)

    @abstractmethod
    def show_sessions(self) -> None:
        """Show those that are known."""

    @abstractmethod
    def find(self, query: str) -> object:
        """Read the list of those that have ``query``, or of all."""

    def state_of(self, session: str) -> str:
        """Why it can neither be opened nor deleted, in a word or two; "" if it can."""
        if session == self.current:
            return "this one"
        if session in self._going:
            return "deleting"
        return "open" if session in self.open_ids else ""

    # ----------------------------------------------------------------------- renaming

    def action_rename(self) -> None:
        """Ask for another title."""
        if (key := self.rows.key) is None:
            return
        self.renamed = key
        self.add_class("-renaming")
        title = self.query_one("#title", Input)
        title.value = self.sessions[key].title
        title.focus()
        self.refresh_bindings()

    def action_keep_title(self) -> None:
        """Save what was typed."""
        if self.renamed is not None:
            self._save_title(self.renamed, self.query_one("#title", Input).value)
        self._end_renaming()

    def action_keep_old_title(self) -> None:
        """Nothing is renamed."""
        self._end_renaming()

    def _end_renaming(self) -> None:
        self.renamed = None
        self.remove_class("-renaming")
        self.query_one("#filter", Input).focus()
        self.say("")
        self.refresh_bindings()

    @work(thread=True, group="write", exit_on_error=False)
    def _save_title(self, session: str, title: str) -> None:
        if not title.strip():
            return
        with telling(self.fail):
            self.store.rename(session, title)
            self.post_message(self.Changed(""))

    # ----------------------------------------------------------------------- deleting

    def action_delete(self) -> None:
        """The first time ask, the second time delete."""
        key = self.rows.key
        if key is None or key in self._going:
            return
        if state := self.state_of(key):
            self.say(f"it cannot be deleted, as it is {state}", "warning")
        elif key != self.to_delete:
            self.to_delete = key
            info = self.sessions[key]
            count = "1 message" if info.messages == 1 else f"{info.messages} messages"
            self.say(
                f"Delete {info.title!r} with {count} for good? Ctrl-D again deletes, Esc keeps.",
                "warning",
            )
        else:
            self.to_delete = None
            self._going.add(key)
            self.show_sessions()
            self.say("deleting: what was said is overwritten, which can take seconds")
            self._delete(key, self.sessions[key].title)

    def action_leave(self) -> None:
        """Back from a question, or away."""
        if self.to_delete is not None:
            self.forget_deletion()
        else:
            super().action_leave()

    def forget_deletion(self) -> None:
        """The key has to be pressed twice again."""
        if self.to_delete is not None:
            self.to_delete = None
            self.say("")

    @work(thread=True, group="write", exit_on_error=False)
    def _delete(self, session: str, title: str) -> None:
        said: Message = self.Changed(f"deleted {title!r}")
        with telling(self.fail):
            try:
                self.store.delete(session)
                self._remove_states(session)
            except OSError as error:
                sentence = f"it was deleted, but not what the model had read of it ({error})"
                said = self.Failed(sentence, session)
            finally:
                # Before anybody hears of it, and looks.
                self._going.discard(session)
            self.post_message(said)

    # ------------------------------------------------------------------- what came of it

    @on(Changed)
    def _show_change(self, event: Changed) -> None:
        """Show what is there now."""
        self.say(event.sentence)
        self.find(self.typed)

    def fail(self, sentence: str) -> None:
        """Say, from a thread, what went wrong in it."""
        self.post_message(self.Failed(sentence))

    @on(Failed)
    def _show_failure(self, event: Failed) -> None:
        """Say it."""
        self.sessions.pop(event.gone, None)
        self.show_sessions()
        self.say(event.sentence, "error")

"""Choosing a conversation to go on with: those of this folder first, and a search in all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from gemma_local.app.sessions.entry import Entry, Hit, SessionInfo
from gemma_local.app.sessions.listing import age
from gemma_local.app.sessions.titles import one_line
from gemma_local.app.tui.glyphs import UNICODE, Glyphs
from gemma_local.app.tui.screens.columns import Column, Row
from gemma_local.app.tui.screens.excerpt import excerpt
from gemma_local.app.tui.screens.list_screen import ListScreen
from gemma_local.app.unexpected import log_unexpected
from gemma_local.models.errors import GemmaLocalError

if TYPE_CHECKING:
    from gemma_local.app.sessions.store import SessionStore

QUIET: Final = 0.15
"""Seconds without a key after which is searched, or a preview is read."""
SHOWN: Final = 8
"""Messages of a preview."""


class SessionPicker(ListScreen[str | None]):
    """Dismisses with the id of a session that can be opened, or None.

    Everything that reads or writes the disk happens in threads; the store may be shared with them.
    """

    HEADING = "Go on with a conversation"
    PLACEHOLDER = "type to search in what was said"
    COLUMNS = (
        Column("title", grows=True, least=36),
        Column("used", right=True, rank=1),
        Column("messages", right=True, rank=2),
        Column("model", rank=3, most=20),
        Column("folder", rank=4, most=30),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Open", priority=True),
        Binding("enter", "keep_title", "Keep this title", priority=True),
        Binding("tab", "everywhere", "All", priority=True),
        Binding("tab", "here", "This folder", priority=True),
        Binding("ctrl+o", "aside", "Preview", priority=True),
        Binding("ctrl+r", "rename", "Rename", priority=True),
        Binding("ctrl+d", "delete", "Delete", priority=True),
        Binding("escape", "leave", "Back"),
        Binding("escape", "keep_old_title", "Keep the old one"),
    ]

    DEFAULT_CSS = """
    SessionPicker {
        & > #frame > #title { display: none; }
        &.-renaming > #frame > #title { display: block; }
        &.-renaming > #frame > #filter { display: none; }
    }
    """

    @dataclass
    class Listed(Message):
        """The sessions that there are, or those in which something was found, by id."""

        sessions: Sequence[SessionInfo]
        hits: Mapping[str, Hit]
        open_ids: Set[str]
        query: str

    @dataclass
    class Read(Message):
        """The entries of a session."""

        session: str
        entries: Sequence[Entry]

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
        folder: Path,
        *,
        current: str | None = None,
        remove_states: Callable[[str], None] = lambda _: None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        glyphs: Glyphs = UNICODE,
    ) -> None:
        """``current`` is the session that this program has open. ``remove_states`` deletes what
        the engine keeps of a session; it raises OSError."""
        super().__init__(glyphs=glyphs)
        self._store = store
        self._folder = folder.absolute()
        self._current = current
        self._remove_states = remove_states
        self._now = now
        self._is_everywhere = False
        self._sessions: dict[str, SessionInfo] = {}
        self._hits: Mapping[str, Hit] = {}
        self._open: Set[str] = frozenset()
        self._query = ""
        self._renamed: str | None = None
        """The session whose title is typed."""
        self._to_delete: str | None = None
        """The session for whose deletion the key was pressed once."""
        self._going: set[str] = set()
        """Those that are just being deleted."""
        self._typing: Timer | None = None
        self._reading: Timer | None = None

    def compose_more(self) -> ComposeResult:
        """A line for a new title."""
        yield Input(id="title", placeholder="the new title", compact=True)

    @property
    def heading(self) -> str:
        """Which sessions these are."""
        where = "in every folder" if self._is_everywhere else f"in {self._folder}"
        return f"{self.HEADING} {where}"

    @property
    def filters_rows(self) -> bool:
        """The store searches."""
        return False

    def on_mount(self) -> None:
        """Read the list."""
        self._list("")

    # ---------------------------------------------------------------------- the list

    def filter(self, text: str) -> None:
        """Search, when nothing more is typed for a moment."""
        self._forget_deletion()
        if self._typing is not None:
            self._typing.stop()
        self._typing = self.set_timer(QUIET, lambda: self._list(self.typed))

    @work(thread=True, exclusive=True, group="list", exit_on_error=False)
    def _list(self, query: str) -> None:
        folder = None if self._is_everywhere else self._folder
        with self._telling():
            hits: dict[str, Hit] = {}
            if query:
                for hit in self._store.search(query, folder):
                    hits.setdefault(hit.session.id, hit)
                sessions = [hit.session for hit in hits.values()]
            else:
                sessions = list(self._store.list(folder))
            open_ids = {info.id for info in sessions if self._store.is_open(info.id)}
            if not get_current_worker().is_cancelled:
                self.post_message(self.Listed(sessions, hits, open_ids, query))

    def on_session_picker_listed(self, event: Listed) -> None:
        """Show them."""
        self._sessions = {info.id: info for info in event.sessions}
        self._hits, self._open, self._query = event.hits, event.open_ids, event.query
        self._show()
        if not event.sessions and event.query:
            self.say(f"nothing has {one_line(event.query)!r}; fewer words find more")
        elif not event.sessions:
            everywhere = "no conversation has been saved yet"
            here = "no conversation was begun in this folder; tab shows those of all folders"
            self.say(everywhere if self._is_everywhere else here)

    def _show(self) -> None:
        self.show_rows([self._row(info) for info in self._sessions.values()])

    def _row(self, info: SessionInfo) -> Row:
        state = self._state(info.id)
        hit = self._hits.get(info.id)
        return Row(
            info.id,
            (
                info.title,
                state or age(info.updated, self._now()),
                str(info.messages),
                info.model,
                str(info.folder),
            ),
            below=hit.snippet if hit is not None and hit.number else "",
            tone="marked" if info.id == self._current else "muted" if state else "",
        )

    def _state(self, session: str) -> str:
        if session == self._current:
            return "this one"
        if session in self._going:
            return "deleting"
        return "open" if session in self._open else ""

    def choose(self, key: str) -> None:
        """Open it, if nobody else has it."""
        match self._state(key):
            case "this one":
                self.dismiss(None)
            case "deleting":
                self.say("this conversation is just being deleted", "warning")
            case "open":
                self.say(
                    "it is open in another gemma-local: close it there, or make a copy with "
                    f"`gemma-local sessions branch {key}`",
                    "warning",
                )
            case _:
                self.dismiss(key)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only one of the two tabs, and nothing but a title while one is typed."""
        of_title = action in ("keep_title", "keep_old_title")
        if self._renamed is not None or of_title:
            return of_title and self._renamed is not None
        match action:
            case "everywhere":
                return not self._is_everywhere
            case "here":
                return self._is_everywhere
        return True

    def action_everywhere(self) -> None:
        """Of all folders."""
        self._look_in(True)

    def action_here(self) -> None:
        """Of this folder."""
        self._look_in(False)

    def _look_in(self, everywhere: bool) -> None:
        self._is_everywhere = everywhere
        self.query_one("#heading", Static).update(self.heading)
        self.say("")
        self._list(self.typed)
        self.refresh_bindings()

    # ------------------------------------------------------------------------ preview

    def highlight(self, key: str | None) -> None:
        """Read it, when the highlight stays for a moment."""
        if key != self._to_delete:
            self._forget_deletion()
        if self._reading is not None:
            self._reading.stop()
        if key is None:
            self.preview("")
        elif self.has_aside:
            self._reading = self.set_timer(QUIET, lambda: self._read(key))

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def _read(self, session: str) -> None:
        with self._telling():
            entries = self._store.entries(session)
            if not get_current_worker().is_cancelled:
                self.post_message(self.Read(session, entries))

    def on_session_picker_read(self, event: Read) -> None:
        """Show the end of it, or the place where something was found."""
        if event.session != self.rows.key:
            return
        said = [entry for entry in event.entries if entry.message.role != "system"]
        hit = self._hits.get(event.session)
        if hit is not None and hit.number:
            first = next((i for i, entry in enumerate(said) if entry.number >= hit.number), 0)
            said = said[first : first + SHOWN]
        self.preview(excerpt(said[-SHOWN:], self.aside_width, self.glyphs))

    # ----------------------------------------------------------------------- renaming

    def action_rename(self) -> None:
        """Ask for another title."""
        if (key := self.rows.key) is None:
            return
        self._renamed = key
        self.add_class("-renaming")
        title = self.query_one("#title", Input)
        title.value = self._sessions[key].title
        title.focus()
        self.refresh_bindings()

    def action_keep_title(self) -> None:
        """Save what was typed."""
        if self._renamed is not None:
            self._save_title(self._renamed, self.query_one("#title", Input).value)
        self._end_renaming()

    def action_keep_old_title(self) -> None:
        """Nothing is renamed."""
        self._end_renaming()

    def action_leave(self) -> None:
        """Back from a question, or away."""
        if self._to_delete is not None:
            self._forget_deletion()
        else:
            super().action_leave()

    def _end_renaming(self) -> None:
        self._renamed = None
        self.remove_class("-renaming")
        self.query_one("#filter", Input).focus()
        self.say("")
        self.refresh_bindings()

    @work(thread=True, group="write", exit_on_error=False)
    def _save_title(self, session: str, title: str) -> None:
        if not title.strip():
            return
        with self._telling():
            self._store.rename(session, title)
            self.post_message(self.Changed(""))

    # ----------------------------------------------------------------------- deleting

    def action_delete(self) -> None:
        """The first time ask, the second time delete."""
        key = self.rows.key
        if key is None or key in self._going:
            return
        if state := self._state(key):
            self.say(f"it cannot be deleted, as it is {state}", "warning")
        elif key != self._to_delete:
            self._to_delete = key
            info = self._sessions[key]
            count = "1 message" if info.messages == 1 else f"{info.messages} messages"
            self.say(
                f"Delete {info.title!r} with {count} for good? Ctrl-D again deletes, Esc keeps.",
                "warning",
            )
        else:
            self._to_delete = None
            self._going.add(key)
            self._show()
            self.say("deleting: what was said is overwritten, which can take seconds")
            self._delete(key, self._sessions[key].title)

    def _forget_deletion(self) -> None:
        if self._to_delete is not None:
            self._to_delete = None
            self.say("")

    @work(thread=True, group="write", exit_on_error=False)
    def _delete(self, session: str, title: str) -> None:
        said: Message = self.Changed(f"deleted {title!r}")
        with self._telling():
            try:
                self._store.delete(session)
                self._remove_states(session)
            except OSError as error:
                sentence = f"it was deleted, but not what the model had read of it ({error})"
                said = self.Failed(sentence, session)
            finally:
                # Before anybody hears of it, and looks.
                self._going.discard(session)
            self.post_message(said)

    def on_session_picker_changed(self, event: Changed) -> None:
        """Show what is there now."""
        self.say(event.sentence)
        self._list(self.typed)

    # --------------------------------------------------------------------- in threads

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Shows what goes wrong in a thread."""
        try:
            yield
        except GemmaLocalError as error:
            self.post_message(self.Failed(str(error)))
        except Exception as error:  # noqa: BLE001 - a thread has nobody above it
            self.post_message(self.Failed(log_unexpected(error)))

    def on_session_picker_failed(self, event: Failed) -> None:
        """Say it."""
        self._sessions.pop(event.gone, None)
        self._show()
        self.say(event.sentence, "error")

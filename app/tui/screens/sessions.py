"""Choosing a conversation to go on with: those of this folder first, and a search in all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on, work
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static
from textual.worker import get_current_worker

from gemma_local.app.sessions.entry import Entry, Hit, SessionInfo
from gemma_local.app.sessions.listing import age
from gemma_local.app.sessions.titles import one_line
from gemma_local.app.tui.glyphs import UNICODE, Glyphs
from gemma_local.app.tui.screens.columns import Column, Row
from gemma_local.app.tui.screens.excerpt import excerpt
from gemma_local.app.tui.screens.looking import telling
from gemma_local.app.tui.screens.session_changes import SessionChanges

if TYPE_CHECKING:
    from gemma_local.app.sessions.store import SessionStore

QUIET: Final = 0.15
"""Seconds without a key after which is searched, or a preview is read."""
SHOWN: Final = 8
"""Messages of a preview."""


class SessionPicker(SessionChanges):
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
        super().__init__(store, current, remove_states, glyphs)
        self._folder = folder.absolute()
        self._now = now
        self._is_everywhere = False
        self._hits: Mapping[str, Hit] = {}
        self._query = ""
        self._typing: Timer | None = None
        self._reading: Timer | None = None

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
        self.find("")

    # ---------------------------------------------------------------------- the list

    def filter(self, text: str) -> None:
        """Search, when nothing more is typed for a moment."""
        self.forget_deletion()
        if self._typing is not None:
            self._typing.stop()
        self._typing = self.set_timer(QUIET, lambda: self.find(self.typed))

    @work(thread=True, exclusive=True, group="list", exit_on_error=False)
    def find(self, query: str) -> None:
        """Read the list of those that have ``query``, or of all."""
        folder = None if self._is_everywhere else self._folder
        with telling(self.fail):
            hits: dict[str, Hit] = {}
            if query:
                for hit in self.store.search(query, folder):
                    hits.setdefault(hit.session.id, hit)
                sessions = [hit.session for hit in hits.values()]
            else:
                sessions = list(self.store.list(folder))
            open_ids = {info.id for info in sessions if self.store.is_open(info.id)}
            if not get_current_worker().is_cancelled:
                self.post_message(self.Listed(sessions, hits, open_ids, query))

    @on(Listed)
    def _fill(self, event: Listed) -> None:
        """Show them."""
        self.sessions = {info.id: info for info in event.sessions}
        self._hits, self.open_ids, self._query = event.hits, event.open_ids, event.query
        self.show_sessions()
        if not event.sessions and event.query:
            self.say(f"nothing has {one_line(event.query)!r}; fewer words find more")
        elif not event.sessions:
            everywhere = "no conversation has been saved yet"
            here = "no conversation was begun in this folder; tab shows those of all folders"
            self.say(everywhere if self._is_everywhere else here)

    def show_sessions(self) -> None:
        """Show those that are known."""
        self.show_rows([self._row(info) for info in self.sessions.values()])

    def _row(self, info: SessionInfo) -> Row:
        state = self.state_of(info.id)
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
            tone="marked" if info.id == self.current else "muted" if state else "",
        )

    def choose(self, key: str) -> None:
        """Open it, if nobody else has it."""
        match self.state_of(key):
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
        if self.renamed is not None or of_title:
            return of_title and self.renamed is not None
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
        self.find(self.typed)
        self.refresh_bindings()

    # ------------------------------------------------------------------------ preview

    def highlight(self, key: str | None) -> None:
        """Read it, when the highlight stays for a moment."""
        if key != self.to_delete:
            self.forget_deletion()
        if self._reading is not None:
            self._reading.stop()
        if key is None:
            self.preview("")
        elif self.has_aside:
            self._reading = self.set_timer(QUIET, lambda: self._read(key))

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def _read(self, session: str) -> None:
        with telling(self.fail):
            entries = self.store.entries(session)
            if not get_current_worker().is_cancelled:
                self.post_message(self.Read(session, entries))

    @on(Read)
    def _show_end(self, event: Read) -> None:
        """Show the end of it, or the place where something was found."""
        if event.session != self.rows.key:
            return
        said = [entry for entry in event.entries if entry.message.role != "system"]
        hit = self._hits.get(event.session)
        if hit is not None and hit.number:
            first = next((i for i, entry in enumerate(said) if entry.number >= hit.number), 0)
            said = said[first : first + SHOWN]
        self.preview(excerpt(said[-SHOWN:], self.aside_width, self.glyphs))

"""Which session a conversation is kept in: a new one, one that is gone on with, or none."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gemma_local.app.errors import UsageError
from gemma_local.app.options import AnswerOptions
from gemma_local.app.record import Record, Unsaved
from gemma_local.app.saved_record import OnProblem, SavedRecord
from gemma_local.app.session_choice import choose_session
from gemma_local.app.sessions.entry import Entry, SessionInfo
from gemma_local.app.sessions.errors import SessionsUnavailable
from gemma_local.app.sessions.session import Session
from gemma_local.app.sessions.store import SessionStore
from gemma_local.engine.messages import Ready


@dataclass(slots=True)
class Kept:
    """A conversation's record, and what is in it already.

    ``label`` is the session's id, empty if nothing is saved. ``system`` is the text that the
    session began with.
    """

    record: Record
    entries: Sequence[Entry] = ()
    label: str = ""
    title: str = ""
    system: str = ""
    _session: Session | None = field(default=None, repr=False)

    def describe(self, ready: Ready) -> None:
        """Note which model goes on, if that can be written down."""
        if self._session is not None:
            with suppress(SessionsUnavailable):
                self._session.describe(model=ready.name, tokenizer=ready.tokenizer)

    def close(self) -> None:
        """Others may go on with the session. What cannot be written any more is said."""
        if self._session is not None:
            self._session = None
            self.record.close()


class Saving:
    """Finds the session that is to be gone on with before a model is loaded, opens it after."""

    def __init__(self, options: AnswerOptions, on_problem: OnProblem) -> None:
        """``on_problem`` hears why nothing can be saved, which stops nobody from talking.

        Raises NoSuchSession, UsageError, SessionsUnavailable if a session was asked for that is
        not there.
        """
        self._on_problem = on_problem
        self._store: SessionStore | None = None
        self._info: SessionInfo | None = None
        wants_old = options.resume is not None or options.go_on
        if not (options.save or wants_old) or options.raw:
            return
        try:
            self._store = SessionStore.open()
        except SessionsUnavailable as problem:
            if wants_old:
                raise
            on_problem(f"{problem}. The conversation is not being saved")
            return
        if options.resume:
            self._info = self._store.find(options.resume)
        elif options.resume is not None:
            self._info = choose_session(self._store)
        elif options.go_on:
            self._info = self._latest()

    @property
    def keeps(self) -> bool:
        """Whether the conversation will be saved, as far as that is known before."""
        return self._store is not None

    def open(self, ready: Ready, *, system: str = "") -> Kept:
        """The record to write to. ``system`` is what a new session begins with.

        Raises SessionInUse, SessionsUnavailable if an old session cannot be gone on with.
        """
        if self._info is None:
            return self.open_new(ready, system=system)
        return self.open_old(self._info.id, ready, system=system)

    def open_old(self, id: str, ready: Ready, *, system: str = "") -> Kept:  # noqa: A002
        """The record of a session that is gone on with; without ``system`` its own text stays.

        Raises SessionInUse, NoSuchSession, SessionsUnavailable.
        """
        session = self._sessions.resume(id)
        return self._goes_on(session, ready, system)

    def open_branch(self, of: str, upto: int, ready: Ready) -> Kept:
        """The record of a new session with copies of the first ``upto`` entries of another.

        Raises NoSuchSession, SessionsUnavailable.
        """
        return self._goes_on(self._sessions.branch(of, upto), ready)

    def _goes_on(self, session: Session, ready: Ready, system: str = "") -> Kept:
        try:
            entries = session.entries(tokenizer=ready.tokenizer)
            settings = session.info.settings
            system = system or str(settings.get("system", ""))
            session.describe(
                model=ready.name, tokenizer=ready.tokenizer, settings=_with_system(settings, system)
            )
        except BaseException:
            session.close()
            raise
        last = entries[-1].number if entries else 0
        record = SavedRecord(session, last, self._on_problem)
        return Kept(record, entries, session.id, session.info.title, system, session)

    def open_new(self, ready: Ready, *, system: str = "") -> Kept:
        """The record of a new conversation."""
        if self._store is None:
            return Kept(Unsaved(), system=system)
        try:
            session = self._store.create(Path.cwd(), ready.name, ready.tokenizer, system=system)
        except (SessionsUnavailable, OSError) as problem:
            self._on_problem(f"{problem}. The conversation is not being saved")
            return Kept(Unsaved(), system=system)
        record = SavedRecord(session, 0, self._on_problem)
        return Kept(record, label=session.id, system=system, _session=session)

    @property
    def store(self) -> SessionStore | None:
        """All sessions, None if nothing is saved."""
        return self._store

    def close(self) -> None:
        """Close the file."""
        if self._store is not None:
            self._store.close()
            self._store = None

    @property
    def _sessions(self) -> SessionStore:
        if self._store is None:
            raise SessionsUnavailable("nothing is saved here, so there is no other conversation")
        return self._store

    def _latest(self) -> SessionInfo:
        try:
            latest = self._sessions.latest(Path.cwd())
        except FileNotFoundError:
            latest = None
        if latest is None:
            raise UsageError(
                "no conversation was begun in this folder; start one without --continue, or see "
                "all with gemma-local sessions list --all"
            )
        return latest


def _with_system(settings: Any, system: str) -> dict[str, Any]:
    rest = {name: value for name, value in settings.items() if name != "system"}
    return {**rest, "system": system} if system else rest

"""All sessions, in one SQLite file.

One file, and not one a session, because what is promised is what a database does: a message is
there whole or not at all, however the process ends; several processes write at once; search,
renaming and listing a thousand sessions need not read them; and deleting overwrites. The price is
that one damaged file concerns all sessions, so it is never written to then, and ``repair`` saves
what can be read.

Write-ahead log, ``synchronous=FULL``: an entry is on the disk when ``append`` returns (about 1 ms
where that is a solid-state drive). Pieces of an answer that is still coming are committed without
waiting for the disk: the end of the process takes nothing of them away, a loss of power what came
since the last entry, which is that answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from gemma_local.app import folders
from gemma_local.app.sessions import rows
from gemma_local.app.sessions.database import Database
from gemma_local.app.sessions.entry import Entry, Hit, SessionInfo, first_entries
from gemma_local.app.sessions.errors import NoSuchSession, SessionInUse, SessionsUnavailable
from gemma_local.app.sessions.folding import fold
from gemma_local.app.sessions.identifier import as_typed, is_id, new_id
from gemma_local.app.sessions.lock import SessionLock
from gemma_local.app.sessions.search_index import SearchIndex, snippet, terms_of
from gemma_local.app.sessions.session import Session
from gemma_local.app.sessions.titles import clipped, one_line, title_given

HITS: Final = 50
"""How many places a search shows, the newest first."""


class SessionStore:
    """Finds, opens and deletes sessions. Everything raises SessionsUnavailable if the file can't
    be used."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._index = SearchIndex(database)
        self._keep_cut_off_answers()

    @classmethod
    def open(cls, path: Path | None = None) -> SessionStore:
        """The sessions in ``path``, by default the person's own."""
        database = Database(folders.sessions_path() if path is None else path)
        try:
            return cls(database)
        except BaseException:
            database.close()
            raise

    def __enter__(self) -> SessionStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    # ------------------------------------------------------------------------------- sessions

    def create(
        self,
        folder: Path,
        model: str,
        tokenizer: str,
        *,
        system: str = "",
        settings: Mapping[str, Any] | None = None,
    ) -> Session:
        """A new session, which comes into being on disk with its first entry."""
        wanted = dict(settings or {})
        if system:
            wanted["system"] = system
        at = rows.now()
        info = SessionInfo(
            id="",
            title="",
            folder=folder.absolute(),
            model=one_line(model),
            tokenizer=tokenizer,
            created=at,
            updated=at,
            settings=wanted,
        )
        return self._new(info)

    def resume(self, id: str) -> Session:  # noqa: A002
        """Open a session to go on with it. Raises SessionInUse, NoSuchSession."""
        lock = self._locked(id)
        try:
            info = self._info(id)
            self._keep_as_stopped(id)
        except BaseException:
            lock.release()
            raise
        return Session(self._database, self._index, lock, info)

    def entries(self, id: str) -> Sequence[Entry]:  # noqa: A002
        """A session's entries, to be looked at; see ``Session.entries``."""
        return rows.read_entries(self._database, id)

    def is_open(self, id: str) -> bool:  # noqa: A002
        """Whether somebody is writing to a session."""
        if not self._lock(id).may_be_held:
            # Without taking it for a moment, in which somebody else would not get it.
            return False
        try:
            self._locked(id).release()
        except SessionInUse:
            return True
        return False

    def branch(self, id: str, upto: int | None = None) -> Session:  # noqa: A002
        """A new session with copies of the first ``upto`` entries of another, by default all.

        Raises NoSuchSession if there are not so many.
        """
        info = self._info(id)
        entries = rows.read_entries(self._database, id, info.tokenizer)
        point = len(entries) if upto is None else upto
        if not 1 <= point <= len(entries):
            raise NoSuchSession(
                f"session {id} has the messages 1 to {len(entries)}; give one of them to branch at"
            )
        title = f"{clipped(info.title, 50).removesuffix(' (branch)')} (branch)"
        branch = self._new(
            replace(info, id="", title=title, created=rows.now(), parent=id, branch_point=point)
        )
        try:
            branch.add(*first_entries(entries, point))
        except BaseException:
            branch.close()
            raise
        return branch

    def adopt(self, info: SessionInfo, entries: Sequence[Entry]) -> SessionInfo:
        """Save a session that comes from elsewhere with its times, and its id if it is free."""
        info = replace(info, title=title_given(info.title), model=one_line(info.model))
        with self._new(info) as session, self._database.write() as connection:
            session.add(*entries)
            connection.execute(
                "UPDATE sessions SET updated = ? WHERE id = ?",
                (rows.microseconds(info.updated), session.id),
            )
            return session.info

    def rename(self, id: str, title: str) -> str:  # noqa: A002
        """Give a session a title that stays; the title as it is kept."""
        kept = title_given(title)
        with self._database.write() as connection:
            connection.execute("UPDATE sessions SET title = ? WHERE id = ?", (kept, id))
        return kept

    def delete(self, *ids: str) -> None:
        """Delete sessions, all or none, and overwrite what they said. Raises SessionInUse."""
        with ExitStack() as locks:
            for id_ in ids:
                locks.callback(self._locked(id_).release)
            with self._database.write() as connection:
                for id_ in ids:
                    found = connection.execute("SELECT id FROM entries WHERE session = ?", (id_,))
                    self._index.remove(connection, [entry for (entry,) in found.fetchall()])
                    connection.execute("DELETE FROM sessions WHERE id = ?", (id_,))
                self._index.purge(connection)
            self._database.shrink()

    # -------------------------------------------------------------------------------- finding

    def list(self, folder: Path | None = None, limit: int | None = None) -> Sequence[SessionInfo]:
        """Sessions that were started in ``folder``, or all; the last used first."""
        condition, parameters = _in_folder(folder)
        order = "ORDER BY updated DESC, id LIMIT ?"
        parameters.append(-1 if limit is None else limit)
        return rows.read_sessions(self._database, f"WHERE {condition} {order}", parameters)

    def latest(self, folder: Path) -> SessionInfo | None:
        """The session that was used last in ``folder``."""
        return next(iter(self.list(folder, 1)), None)

    def find(self, name: str) -> SessionInfo:
        """The session with this id, beginning of an id, or title. Raises NoSuchSession."""
        title, typed = one_line(name), as_typed(name)
        found = self._sessions("WHERE id = ?", typed)
        if not found:
            # Before beginnings of ids, so that a short title is not taken for one.
            found = self._sessions("WHERE title = ? ORDER BY updated DESC", title)
            if len(found) > 1:
                raise NoSuchSession(
                    f"{len(found)} sessions have the title {title!r} ({_named(found)}); give the "
                    "id of one"
                )
        if not found and typed is not None:
            found = self._sessions("WHERE id LIKE ? ORDER BY id", f"{typed}%")
            if len(found) > 1:
                raise NoSuchSession(
                    f"{len(found)} sessions begin with {typed!r} ({_named(found)}); give more of "
                    "the id"
                )
        if not found:
            raise _no_session(title)
        return found[0]

    def search(self, query: str, folder: Path | None = None, limit: int = HITS) -> Sequence[Hit]:
        """Entries, and titles, with all words of ``query``; in double quotes: phrases.

        The sessions that were used last come first.
        """
        terms = terms_of(query)
        if not terms:
            return []
        holds, parameters = self._index.condition(terms)
        within, folder_parameters = _in_folder(folder)
        found = self._database.read(
            "SELECT passages.id, session, number FROM passages "
            "JOIN entries ON entries.id = passages.id JOIN sessions ON sessions.id = session "
            f"WHERE {holds} AND {within} ORDER BY updated DESC, session, number LIMIT ?",
            (*parameters, *folder_parameters, limit),
        )
        said: dict[str, list[Hit]] = {}
        infos = {info.id: info for info in self.list(folder)}
        for entry, session, number in found:
            packed = self._database.read("SELECT message FROM entries WHERE id = ?", [entry])
            # Either may have been deleted in between.
            if packed and session in infos:
                message = rows.read_message(packed[0][0], self._database)
                hit = Hit(infos[session], number, message.role, snippet(message, terms))
                said.setdefault(session, []).append(hit)
        hits: list[Hit] = []
        for info in infos.values():
            if all(term in fold(info.title) for term in terms):
                said.setdefault(info.id, [Hit(info, 0, "", info.title)])
            hits += said.get(info.id, [])
        return hits[:limit]

    # --------------------------------------------------------------------------------- inside

    def _new(self, info: SessionInfo) -> Session:
        """A session with the id that ``info`` has, or another if that is none or is taken."""
        name = info.id
        while not is_id(name) or self._sessions("WHERE id = ?", name):
            name = new_id()
        return Session(self._database, self._index, self._locked(name), replace(info, id=name))

    def _info(self, id_: str) -> SessionInfo:
        if not (found := self._sessions("WHERE id = ?", id_)):
            raise _no_session(id_)
        return found[0]

    def _sessions(self, condition: str, *parameters: Any) -> Sequence[SessionInfo]:
        return rows.read_sessions(self._database, condition, parameters)

    def _lock(self, id_: str) -> SessionLock:
        return SessionLock(self._database.path.with_suffix(".locks") / id_)

    def _locked(self, id_: str) -> SessionLock:
        lock = self._lock(id_)
        try:
            if not lock.acquire():
                raise SessionInUse(id_)
        except OSError as error:
            raise SessionsUnavailable(
                f"session {id_} cannot be opened for writing ({error}); see whether the disk is "
                "full and the folder is yours"
            ) from error
        return lock

    def _keep_cut_off_answers(self) -> None:
        """Take over what processes that were killed had written of an answer."""
        for (id_,) in self._database.read(
            "SELECT DISTINCT session FROM entries WHERE state = 'partial'"
        ):
            # Not one that is still coming; and where nothing can be written, reading goes on.
            with suppress(SessionInUse, SessionsUnavailable), ExitStack() as locks:
                locks.callback(self._locked(id_).release)
                self._keep_as_stopped(id_)

    def _keep_as_stopped(self, id_: str) -> None:
        cut_off = "SELECT id, message FROM entries WHERE session = ? AND state = 'partial'"
        with self._database.write() as connection:
            for entry, packed in connection.execute(cut_off, (id_,)).fetchall():
                connection.execute("UPDATE entries SET state = 'stopped' WHERE id = ?", (entry,))
                self._index.add(connection, entry, rows.read_message(packed, self._database))


def _in_folder(folder: Path | None) -> tuple[str, list[Any]]:
    if folder is None:
        return "1", []
    return "folder = ?", [rows.folder_bytes(folder.absolute())]


def _no_session(name: str) -> NoSuchSession:
    return NoSuchSession(
        f"there is no session {name!r}; gemma-local sessions list --all shows all that there are"
    )


def _named(found: Sequence[SessionInfo]) -> str:
    shown = ", ".join(info.id for info in found[:5])
    return shown if len(found) <= 5 else f"{shown}, …"

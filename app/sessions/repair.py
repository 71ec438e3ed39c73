"""Making a damaged file usable again, without losing what can still be read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from gemma_local.app.sessions import rows
from gemma_local.app.sessions.database import Database
from gemma_local.app.sessions.entry import Entry, SessionInfo
from gemma_local.app.sessions.errors import SessionsDamaged, SessionsUnavailable
from gemma_local.app.sessions.lock import SessionLock
from gemma_local.app.sessions.search_index import SearchIndex
from gemma_local.app.sessions.store import SessionStore
from gemma_local.app.sessions.titles import title_of


@dataclass(frozen=True, slots=True)
class Repaired:
    """What a repair did: ``kept`` is the damaged file under its new name."""

    kept: Path
    sessions: int
    entries: int


def is_sound(path: Path) -> bool:
    """Whether the file passes SQLite's own check; the index of the search is made anew then, so
    that it is sound as well.

    Raises SessionsUnavailable if that cannot be told.
    """
    try:
        database = Database(path)
        try:
            if database.read("PRAGMA integrity_check") != [("ok",)]:
                return False
            SearchIndex(database).rebuild()
        finally:
            database.close()
    except SessionsDamaged:
        return False
    return True


def repair(path: Path, at: datetime) -> Repaired:
    """Put what can be read of a damaged file into a new one, and keep the old one beside it.

    ``at`` becomes part of the old one's name. Raises SessionsUnavailable, with nothing changed.
    """
    _refuse_while_in_use(path)
    new = path.with_name(f"{path.name}.new")
    kept = path.with_name(f"{path.name}.damaged-{at:%Y%m%d-%H%M%S}")
    try:
        for name in _files(new):
            name.unlink(missing_ok=True)
        sessions = entries = 0
        with SessionStore.open(new) as store:
            for info, said in _readable(path):
                store.adopt(info, said)
                sessions, entries = sessions + 1, entries + len(said)
        with suppress(OSError):
            new.with_suffix(".locks").rmdir()
        file, log, shared = _files(path)
        if log.exists() and log.stat().st_size:
            log.rename(_files(kept)[1])
        file.rename(kept)
        for name in (log, shared):
            name.unlink(missing_ok=True)
        new.rename(path)
    except OSError as error:
        raise SessionsUnavailable(
            f"{path} cannot be repaired ({error}); free some space, and see whether the folder is "
            "yours"
        ) from error
    return Repaired(kept, sessions, entries)


def _files(path: Path) -> tuple[Path, ...]:
    """The file, its log, and what readers of the log share, which is made from it."""
    return tuple(path.with_name(path.name + end) for end in ("", "-wal", "-shm"))


def _refuse_while_in_use(path: Path) -> None:
    folder = path.with_suffix(".locks")
    for name in sorted(folder.iterdir()) if folder.is_dir() else ():
        lock = SessionLock(name)
        if not lock.acquire():
            raise SessionsUnavailable(
                f"session {name.name} is open in another gemma-local; close it, then repair"
            )
        lock.release()


def _readable(path: Path) -> Iterator[tuple[SessionInfo, list[Entry]]]:
    """Sessions with those of their entries that can be read, the oldest first."""
    infos: dict[str, SessionInfo] = {}
    said: dict[str, dict[int, Entry]] = {}
    # Read-only, so that the log stays as it is, too.
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        # One table that is not understood shall not hide the others.
        connection.execute("PRAGMA writable_schema = ON")
        for row in _rows(connection, "sessions", rows.SESSION):
            with suppress(*rows.UNREADABLE):
                info = rows.info_of(row)
                infos[info.id] = info
        for session, *row in _rows(connection, "entries", f"session, {rows.ENTRY}"):
            with suppress(*rows.UNREADABLE):
                entry = rows.entry_of(row)
                said.setdefault(session, {})[entry.number] = entry
    whole = {id_: [said[id_][number] for number in sorted(said[id_])] for id_ in said}
    for id_, entries in sorted(whole.items(), key=lambda item: item[1][0].at):
        yield infos.get(id_) or _nameless(id_, entries), entries


def _rows(connection: sqlite3.Connection, table: str, columns: str) -> Iterator[list[Any]]:
    """Rows of a table from either end, up to where it can't be read."""
    seen = set()
    for order in ("ASC", "DESC"):
        # What SQLite says about a damaged file need not be UTF-8.
        with suppress(sqlite3.Error, UnicodeDecodeError):
            query = f"SELECT rowid, {columns} FROM {table} NOT INDEXED ORDER BY rowid {order}"
            for rowid, *row in connection.execute(query):
                if rowid not in seen:
                    seen.add(rowid)
                    yield row


def _nameless(id_: str, entries: Sequence[Entry]) -> SessionInfo:
    """A session whose own row is lost."""
    first = next((entry.message.text for entry in entries if entry.message.role == "user"), "")
    return SessionInfo(
        id=id_,
        title=title_of(first),
        folder=Path(),
        model="",
        tokenizer="",
        created=entries[0].at,
        updated=entries[-1].at,
    )

"""A session that is open for writing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum
from typing import Any, Final, Literal

from gemma_local.app.sessions import rows
from gemma_local.app.sessions.database import Database
from gemma_local.app.sessions.entry import Entry, Kind, SessionInfo
from gemma_local.app.sessions.lock import SessionLock
from gemma_local.app.sessions.packing import pack
from gemma_local.app.sessions.search_index import SearchIndex
from gemma_local.app.sessions.stream import Stream
from gemma_local.app.sessions.titles import UNTITLED, one_line, title_given, title_of
from gemma_local.models.message import Message


class Unchanged(Enum):
    """The default of arguments for which None means something."""

    UNCHANGED = "unchanged"


UNCHANGED: Final = Unchanged.UNCHANGED


class Session:
    """One conversation: entries are added at its end, and nothing that was said is altered.

    Every method that writes returns when the data is on the disk, and raises SessionsUnavailable
    with nothing changed; it may be called again then. A new session comes into being on disk with
    its first entry.
    """

    def __init__(
        self, database: Database, index: SearchIndex, lock: SessionLock, info: SessionInfo
    ) -> None:
        """Made by ``SessionStore``; ``lock`` is held, and is given back by ``close``."""
        self._database = database
        self._index = index
        self._lock = lock
        self._info = info
        self._stream: Stream | None = None

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def id(self) -> str:
        """The session's name."""
        return self._info.id

    @property
    def info(self) -> SessionInfo:
        """The session as it is on disk, or will be with its first entry."""
        found = rows.read_sessions(self._database, "WHERE id = ?", (self.id,))
        return found[0] if found else replace(self._info, title=self._info.title or UNTITLED)

    def close(self) -> None:
        """End writing; another process may write then. A piece that is still being streamed is
        kept as stopped. The session is not usable any more."""
        try:
            self._end_stream()
        finally:
            self._lock.release()

    def entries(self, *, tokenizer: str | None = None) -> list[Entry]:
        """All entries in order.

        With ``tokenizer``, spoken tokens and counts that another vocabulary made are left out.
        Calls without results are marked as ``Entry.info`` says.
        """
        return rows.read_entries(self._database, self.id, tokenizer)

    @contextmanager
    def together(self) -> Iterator[None]:
        """All that is written within the block is written at its end, or none of it is."""
        with self._database.write():
            yield

    def append(
        self,
        message: Message,
        *,
        kind: Kind = "message",
        state: Literal["complete", "stopped"] = "complete",
        finish: str = "",
        report: Mapping[str, Any] | None = None,
        tokens: int | None = None,
        info: Mapping[str, Any] | None = None,
    ) -> Entry:
        """Add an entry; an answer that was still being streamed is kept as stopped before it."""
        self._end_stream()
        return self._add(
            Entry(
                message=message,
                number=0,
                at=rows.now(),
                kind=kind,
                state=state,
                finish=finish,
                report=report or {},
                tokens=tokens,
                info=info or {},
            )
        )

    def add(self, *entries: Entry) -> None:
        """Add entries of another session, all or none, under new numbers."""
        self._end_stream()
        with self.together():
            for entry in entries:
                # What another process is still writing is a beginning here.
                self._add(replace(entry, state="stopped") if entry.state == "partial" else entry)

    def stream(self) -> Stream:
        """Begin an answer that is written down while it comes; it ends with the next ``append``
        at the latest."""
        self._end_stream()
        self._stream = Stream(self._put_piece, self._database.lock)
        return self._stream

    def amend(
        self,
        number: int,
        *,
        stand_in: Message | Unchanged | None = UNCHANGED,
        dropped: bool | Unchanged = UNCHANGED,
        tokens: int | Unchanged | None = UNCHANGED,
    ) -> None:
        """Change what the model reads of an entry, or how many tokens that is.

        Raises ValueError if there is no such entry.
        """
        new: dict[str, Any] = {"stand_in": stand_in, "dropped": dropped, "tokens": tokens}
        new = {name: value for name, value in new.items() if value is not UNCHANGED}
        if isinstance(stand_in, Message):
            new["stand_in"] = rows.packed_message(stand_in)
        if not new:
            return
        columns = ", ".join(f"{name} = ?" for name in new)
        with self._database.write() as connection:
            changed = connection.execute(
                f"UPDATE entries SET {columns} WHERE session = ? AND number = ?",
                (*new.values(), self.id, number),
            )
            if changed.rowcount != 1:
                raise ValueError(f"session {self.id} has no entry {number}")
            self._touch(connection)

    def set_title(self, title: str) -> None:
        """Give the session a title that stays; at most 60 characters of one line are kept."""
        self._info = replace(self._info, title=title_given(title))
        self._change("title = ?", (self._info.title,))

    def describe(
        self,
        *,
        model: str | None = None,
        tokenizer: str | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        """Note what the session goes on with; entries keep the tokenizer that they came with."""
        known = self._info
        info = replace(
            known,
            model=known.model if model is None else one_line(model),
            tokenizer=known.tokenizer if tokenizer is None else tokenizer,
            settings=known.settings if settings is None else settings,
        )
        self._info = info
        self._change(
            "model = ?, tokenizer = ?, settings = ?",
            (info.model, info.tokenizer, pack(info.settings)),
        )

    def _end_stream(self) -> None:
        if self._stream is not None:
            self._stream.stop()
            self._stream = None

    # -------------------------------------------------------------------------------- writing

    def _add(self, entry: Entry) -> Entry:
        with self._database.write() as connection:
            return self._insert(connection, replace(entry, number=self._next_number(connection)))

    def _put_piece(self, number: int | None, entry: Entry) -> Entry:
        """Write a streamed answer in place of what was written of it under ``number``.

        The disk is only waited for at its end.
        """
        with self._database.write(durable=entry.state != "partial") as connection:
            if number is None:
                number = self._next_number(connection)
            else:
                self._remove(connection, number)
            return self._insert(connection, replace(entry, number=number))

    def _remove(self, connection: sqlite3.Connection, number: int) -> None:
        key = (self.id, number)
        ids = connection.execute("SELECT id FROM entries WHERE session = ? AND number = ?", key)
        self._index.remove(connection, [id_ for (id_,) in ids.fetchall()])
        connection.execute("DELETE FROM entries WHERE session = ? AND number = ?", key)

    def _insert(self, connection: sqlite3.Connection, entry: Entry) -> Entry:
        rows.create(connection, self._info)
        columns = rows.entry_columns(entry)
        columns |= {"session": self.id, "tokenizer": self._info.tokenizer}
        names, marks = ", ".join(columns), ", ".join("?" * len(columns))
        inserted = connection.execute(
            f"INSERT INTO entries ({names}) VALUES ({marks})", tuple(columns.values())
        )
        if entry.state != "partial":
            assert inserted.lastrowid is not None
            self._index.add(connection, inserted.lastrowid, entry.message)
        if entry.message.role == "user" and entry.kind == "message" and entry.written.strip():
            connection.execute(
                "UPDATE sessions SET title = ? WHERE id = ? AND title = ''",
                (title_of(entry.written), self.id),
            )
        self._touch(connection)
        return entry

    def _next_number(self, connection: sqlite3.Connection) -> int:
        (last,) = connection.execute(
            "SELECT coalesce(max(number), 0) FROM entries WHERE session = ?", (self.id,)
        ).fetchone()
        return int(last) + 1

    def _touch(self, connection: sqlite3.Connection) -> None:
        connection.execute(
            "UPDATE sessions SET updated = ? WHERE id = ?",
            (rows.microseconds(rows.now()), self.id),
        )

    def _change(self, columns: str, values: tuple[Any, ...]) -> None:
        with self._database.write() as connection:
            connection.execute(f"UPDATE sessions SET {columns} WHERE id = ?", (*values, self.id))

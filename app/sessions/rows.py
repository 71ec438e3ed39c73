"""Rows of the tables as sessions and entries."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, cast

from gemma_local.app.sessions.database import Database, damaged
from gemma_local.app.sessions.entry import Entry, Kind, SessionInfo, State
from gemma_local.app.sessions.errors import SessionsDamaged
from gemma_local.app.sessions.packing import message_of, pack, plain_message, unpack
from gemma_local.app.sessions.titles import UNTITLED
from gemma_local.models.message import Message

SESSION: Final = (
    "id, title, folder, model, tokenizer, created, updated, parent, branch_point, settings"
)
"""The columns that ``info_of`` reads."""

ENTRY: Final = (
    "number, at, kind, state, finish, tokenizer, tokens, dropped, message, stand_in, report, info"
)
"""The columns that ``entry_of`` reads."""

UNREADABLE: Final = (ValueError, TypeError, AttributeError, OverflowError, RecursionError)
"""What a damaged row can raise."""

_MESSAGES: Final = "(SELECT count(*) FROM entries WHERE session = sessions.id AND kind = 'message')"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def now() -> datetime:
    """The time, UTC."""
    return datetime.now(UTC)


def microseconds(at: datetime) -> int:
    """A time as it is stored."""
    return (at - _EPOCH) // _MICROSECOND


def time_of(stored: int) -> datetime:
    """The time that ``microseconds`` stored."""
    return _EPOCH + timedelta(microseconds=stored)


def folder_bytes(folder: Path) -> bytes:
    """A folder as it is stored; a path may hold lone surrogates."""
    return str(folder).encode("utf-8", "surrogatepass")


def read_sessions(
    database: Database, condition: str = "", parameters: Sequence[Any] = ()
) -> list[SessionInfo]:
    """Sessions by an SQL condition. Raises SessionsUnavailable."""
    query = f"SELECT {_MESSAGES}, {SESSION} FROM sessions {condition}"
    found = database.read(query, parameters)
    with _damage(database):
        return [info_of(row, messages) for messages, *row in found]


def read_entries(database: Database, session: str, tokenizer: str | None = None) -> list[Entry]:
    """All entries of a session, without spoken tokens and counts of another ``tokenizer``; calls
    without results are marked as ``Entry.info`` says. Raises SessionsUnavailable."""
    query = f"SELECT {ENTRY} FROM entries WHERE session = ? ORDER BY number"
    found = database.read(query, (session,))
    with _damage(database):
        return _with_unanswered([entry_of(row, tokenizer) for row in found])


def read_message(packed: bytes, database: Database) -> Message:
    """A message as ``packed_message`` wrote it. Raises SessionsUnavailable."""
    with _damage(database):
        return message_of(unpack(packed))


def create(connection: sqlite3.Connection, info: SessionInfo) -> None:
    """Write a session's row, unless it is there."""
    connection.execute(
        "INSERT OR IGNORE INTO sessions (id, title, folder, model, tokenizer, created, "
        "updated, parent, branch_point, settings) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            info.id,
            info.title,
            folder_bytes(info.folder),
            info.model,
            info.tokenizer,
            microseconds(info.created),
            microseconds(info.updated),
            info.parent,
            info.branch_point,
            pack(info.settings),
        ),
    )


def info_of(row: Sequence[Any], messages: int = 0) -> SessionInfo:
    """A session from a row of ``SESSION``. Raises one of ``UNREADABLE`` if it is damaged."""
    id_, title, folder, model, tokenizer, created, updated, parent, point, settings = row
    return SessionInfo(
        id=id_,
        title=title or UNTITLED,
        folder=Path(folder.decode("utf-8", "surrogatepass")),
        model=model,
        tokenizer=tokenizer,
        created=time_of(created),
        updated=time_of(updated),
        messages=messages,
        parent=parent,
        branch_point=point,
        settings=unpack(settings),
    )


def entry_of(row: Sequence[Any], tokenizer: str | None = None) -> Entry:
    """An entry from a row of ``ENTRY``, without spoken tokens and counts of another ``tokenizer``.

    Raises one of ``UNREADABLE`` if it is damaged.
    """
    number, at, kind, state, finish, spoken_by, tokens, dropped, message, stand_in, *rest = row
    report, info = rest
    entry = Entry(
        message=message_of(unpack(message)),
        number=number,
        at=time_of(at),
        kind=cast(Kind, kind),
        state=cast(State, state),
        finish=finish,
        report=unpack(report),
        tokens=tokens,
        stand_in=None if stand_in is None else message_of(unpack(stand_in)),
        dropped=bool(dropped),
        info=unpack(info),
    )
    if tokenizer in (None, spoken_by):
        return entry
    return replace(
        entry,
        tokens=None,
        message=replace(entry.message, spoken=None),
        stand_in=entry.stand_in and replace(entry.stand_in, spoken=None),
    )


@contextmanager
def _damage(database: Database) -> Iterator[None]:
    try:
        yield
    except UNREADABLE as error:
        raise SessionsDamaged(damaged(database.path)) from error


def entry_columns(entry: Entry) -> dict[str, Any]:
    """What is stored of an entry, by column."""
    return {
        "number": entry.number,
        "at": microseconds(entry.at),
        "kind": entry.kind,
        "state": entry.state,
        "finish": entry.finish,
        "tokens": entry.tokens,
        "dropped": entry.dropped,
        "message": packed_message(entry.message),
        "stand_in": None if entry.stand_in is None else packed_message(entry.stand_in),
        "report": pack(entry.report),
        "info": pack(entry.info),
    }


def packed_message(message: Message) -> bytes:
    """A message as it is stored."""
    return pack(plain_message(message))


def _with_unanswered(entries: list[Entry]) -> list[Entry]:
    """The same entries; ``info["unanswered"]`` counts calls whose results are missing.

    Results follow their calls in order, so those at the end are missing. It is worked out afresh
    each time, as the results may still come.
    """
    marked: list[Entry] = []
    for place, entry in enumerate(entries):
        info: Mapping[str, Any] = {k: v for k, v in entry.info.items() if k != "unanswered"}
        calls = len(entry.message.calls)
        results = 0
        for later in entries[place + 1 : place + 1 + calls]:
            if later.message.role != "tool":
                break
            results += 1
        if results < calls:
            info = {**info, "unanswered": calls - results}
        marked.append(replace(entry, info=info))
    return marked

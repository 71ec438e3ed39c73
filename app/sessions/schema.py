"""The tables, by version of the schema.

Texts that may hold anything (messages, paths, what a caller adds) are BLOBs of UTF-8 with
``surrogatepass``: SQLite's own TEXT takes no lone surrogates. Times are whole microseconds since
1970, UTC.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from gemma_local.app.sessions.errors import SessionsUnavailable

APPLICATION_ID: Final = 0x67_4C_53_31
"""Stands in the file's header, so that another program's database is not taken for ours."""

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (
        """
        CREATE TABLE sessions (
            id TEXT PRIMARY KEY,
            title TEXT NOT NULL,        -- '' until something was said
            folder BLOB NOT NULL,
            model TEXT NOT NULL,
            tokenizer TEXT NOT NULL,
            created INTEGER NOT NULL,
            updated INTEGER NOT NULL,
            parent TEXT,                -- may be deleted
            branch_point INTEGER,
            settings BLOB NOT NULL
        )
        """,
        "CREATE INDEX sessions_by_time ON sessions (updated)",
        """
        CREATE TABLE entries (
            id INTEGER PRIMARY KEY,
            session TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
            number INTEGER NOT NULL,
            at INTEGER NOT NULL,
            kind TEXT NOT NULL,
            state TEXT NOT NULL,
            finish TEXT NOT NULL,
            tokenizer TEXT NOT NULL,    -- of the spoken tokens
            tokens INTEGER,
            dropped INTEGER NOT NULL,
            message BLOB NOT NULL,
            stand_in BLOB,
            report BLOB NOT NULL,
            info BLOB NOT NULL,
            UNIQUE (session, number)
        )
        """,
        # To count them without reading them.
        "CREATE INDEX entries_messages ON entries (session) WHERE kind = 'message'",
        "CREATE INDEX entries_partial ON entries (session) WHERE state = 'partial'",
        # What search looks through, folded. The index over it is made by ``search_index``, as not
        # every SQLite can.
        "CREATE TABLE passages (id INTEGER PRIMARY KEY REFERENCES entries, text TEXT NOT NULL)",
        "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    ),
)
"""``MIGRATIONS[n]`` leads from version n to n + 1. What was released is never changed."""


def check(connection: sqlite3.Connection, name: str) -> int:
    """The version of the schema of the file ``name``, 0 for a new one.

    Raises SessionsUnavailable for a file of a newer version or of another program, sqlite3.Error.
    """
    with _one_moment(connection):
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application != APPLICATION_ID and (application or version or tables):
        raise SessionsUnavailable(
            f"{name} is a database of another program; move it elsewhere, and gemma-local makes "
            "its own"
        )
    if version > len(MIGRATIONS):
        raise SessionsUnavailable(
            f"the saved sessions in {name} were written by a newer gemma-local (version {version}, "
            f"this one knows {len(MIGRATIONS)}); use that one, or move the file elsewhere"
        )
    return int(version)


@contextmanager
def _one_moment(connection: sqlite3.Connection) -> Iterator[None]:
    """A block that reads all of one state of the file, whatever other processes do meanwhile."""
    begins = not connection.in_transaction
    if begins:
        connection.execute("BEGIN")
    try:
        yield
    finally:
        # A file that is damaged ends it by itself.
        if begins and connection.in_transaction:
            connection.execute("ROLLBACK")


def migrate(connection: sqlite3.Connection, name: str) -> None:
    """Bring the file to this version of the schema, within the caller's transaction; raises as
    ``check`` does."""
    # Afresh: another process may have been faster.
    version = check(connection, name)
    for statements in MIGRATIONS[version:]:
        for statement in statements:
            connection.execute(statement)
    if version < len(MIGRATIONS):
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")

"""One connection to the file: durable transactions, and sentences in place of SQLite's errors."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from gemma_local.app.sessions import schema
from gemma_local.app.sessions.errors import SessionsDamaged, SessionsUnavailable

BUSY_SECONDS: Final = 5.0
"""How long to wait for another process. Its transactions take milliseconds."""

_WAL_BYTES: Final = 4 << 20

Row = tuple[Any, ...]


class Database:
    """A connection that several threads may share: ``lock`` is held by the one that uses it.

    A transaction that is durable (``synchronous=FULL``) is on the disk when it returns, with all
    that was written before it. One that is not costs no wait for the disk; it survives the end of
    the process at once, and a loss of power after the next durable one.
    """

    def __init__(self, path: Path) -> None:
        """Open the file, make it if there is none. Raises SessionsUnavailable."""
        self.path = path
        self.lock = threading.RLock()
        self._depth = 0
        self._durable = True
        with self._sentences():
            try:
                _make_private(path)
            except OSError as error:
                raise _unavailable(error, path) from error
            self._connection = sqlite3.connect(
                path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            try:
                self._set_up()
            except BaseException:
                self._connection.close()
                raise

    def close(self) -> None:
        """Close the connection; the last one brings the write-ahead log into the file."""
        with self.lock, suppress(sqlite3.Error):
            self._connection.close()

    def read(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """All rows of a query. Raises SessionsUnavailable."""
        with self.lock, self._sentences():
            return self._connection.execute(sql, parameters).fetchall()

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """A transaction, or a part of the one that this thread is in: all of it or nothing.

        Raises SessionsUnavailable; nothing was changed then, unless the disk failed in the very
        moment of committing.
        """
        with self.lock, self._sentences():
            if self._depth == 0:
                self._begin(durable)
            self._depth += 1
            try:
                yield self._connection
            except BaseException:
                if self._depth == 1:
                    self._roll_back()
                raise
            else:
                if self._depth == 1:
                    self._commit()
            finally:
                self._depth -= 1

    def shrink(self) -> None:
        """Give the room of what was deleted back, and leave no copy of it in the log.

        Only as far as no other process is reading. Raises SessionsUnavailable.
        """
        with self.lock, self._sentences():
            # A script, as it takes a step for each page and ``execute`` takes one.
            self._connection.executescript("PRAGMA incremental_vacuum")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _begin(self, durable: bool) -> None:
        if durable != self._durable:
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._durable = durable
        self._connection.execute("BEGIN IMMEDIATE")

    def _commit(self) -> None:
        try:
            self._connection.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        # SQLite has done so itself after some errors.
        if self._connection.in_transaction:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")

    def _set_up(self) -> None:
        execute = self._connection.execute
        # Before anything is written: not a byte of a file that isn't ours is changed. Opening one
        # that is writes nothing, so that it can be read while others write.
        version = schema.check(self._connection, str(self.path))
        if version == 0:
            # Room of deleted sessions can be given back; it can be chosen for a new file only.
            execute("PRAGMA auto_vacuum = INCREMENTAL")
        self._enter_wal()
        execute(f"PRAGMA journal_size_limit = {_WAL_BYTES}")
        execute("PRAGMA synchronous = FULL")
        # macOS: fsync alone leaves the data in the drive's own cache.
        execute("PRAGMA fullfsync = ON")
        execute("PRAGMA checkpoint_fullfsync = ON")
        execute("PRAGMA foreign_keys = ON")
        # What was deleted is overwritten, in the file and in the index of the search.
        execute("PRAGMA secure_delete = ON")
        if version < len(schema.MIGRATIONS):
            with self.write():
                schema.migrate(self._connection, str(self.path))

    def _enter_wal(self) -> None:
        """Change to write-ahead logging. SQLite does not wait for others there, so we do."""
        deadline = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                # Where there is no shared memory it stays with the old journal, which is slower.
                self._connection.execute("PRAGMA journal_mode = WAL").fetchall()
                return
            except sqlite3.OperationalError as error:
                if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
            time.sleep(0.02)

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            # A bug of ours is no bad luck of the person's.
            if isinstance(error, sqlite3.ProgrammingError):
                raise
            raise _unavailable(error, self.path) from error
        except UnicodeDecodeError as error:
            # What SQLite says about a damaged file can have pieces of it in its words.
            raise SessionsDamaged(damaged(self.path)) from error


def damaged(path: Path) -> str:
    """What is said about a damaged file."""
    return (
        f"the saved sessions in {path} are damaged; gemma-local sessions repair saves what can be "
        "read and keeps the damaged file under another name"
    )


def _make_private(path: Path) -> None:
    """The folder and the file, for their owner alone; SQLite's other files follow the file."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _code(error: Exception) -> int:
    """SQLite's primary result code, 0 for errors that are not its own."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _unavailable(error: Exception, path: Path) -> SessionsUnavailable:
    match _code(error):
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return SessionsUnavailable(
                f"the saved sessions in {path} are locked by another program; close it, or try "
                "again in a moment"
            )
        case sqlite3.SQLITE_FULL:
            return SessionsUnavailable(
                f"there is no room left to save sessions in {path}; free some space on that disk"
            )
        case sqlite3.SQLITE_IOERR:
            return SessionsUnavailable(
                f"the disk refused to read or write the saved sessions in {path} ({error}); see "
                "whether it is full, over a quota or failing"
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return SessionsUnavailable(
                f"the saved sessions in {path} may not be written; allow writing to the file and "
                "its folder"
            )
        case (
            sqlite3.SQLITE_CORRUPT
            | sqlite3.SQLITE_NOTADB
            | sqlite3.SQLITE_CONSTRAINT
            | sqlite3.SQLITE_ERROR
        ):
            # The last two: tables that are not what ``schema`` made. Our statements fit those.
            return SessionsDamaged(damaged(path))
        case _:
            return SessionsUnavailable(
                f"the saved sessions in {path} cannot be opened or used ({error}); see whether the "
                "file and its folder are yours and may be written"
            )

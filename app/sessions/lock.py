"""Who writes to a session: one process at a time.

An advisory lock of the operating system on an empty file: it ends with the process that holds it,
however that ends, so it cannot go stale.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path


class SessionLock:
    """A lock that is held from ``acquire`` to ``release``."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    @property
    def may_be_held(self) -> bool:
        """Whether there is a file to hold; without one nobody has the lock."""
        return self._path.exists()

    def acquire(self) -> bool:
        """Take the lock if nobody has it; whether it is ours now. Raises OSError."""
        if self._file is not None:
            return True
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        while True:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                if not _try_lock(file):
                    os.close(file)
                    return False
                if self._is(file):
                    self._file = file
                    return True
            except BaseException:
                os.close(file)
                raise
            # Whoever held it before has taken the file away since we opened it.
            os.close(file)

    def release(self) -> None:
        """Give the lock back, and take its file away."""
        if self._file is None:
            return
        file, self._file = self._file, None
        # Before the lock ends, lest somebody else's file goes. Windows keeps open files: there it
        # stays, empty.
        with suppress(OSError):
            self._path.unlink()
        os.close(file)

    def _is(self, file: int) -> bool:
        try:
            return os.path.samestat(os.fstat(file), self._path.stat())
        except FileNotFoundError:
            return False


if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: int) -> bool:
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

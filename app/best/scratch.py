"""The folder in which the copies of one contest lie, and that nothing of it stays behind.

It is in the cache and only its owner can read it. Whoever made it holds a lock for as long as it is
used; a folder that nobody holds was left by a process that was killed, and goes at the next start.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from gemma_local.app import folders
from gemma_local.app.best import worktree
from gemma_local.app.best.errors import NoAttempts
from gemma_local.app.sessions.lock import SessionLock

_REPOSITORY: Final = "repository"
"""The file that says to which repository the worktrees belong."""
_LOCK: Final = ".lock"


class Scratch:
    """A folder that is ours until ``remove``."""

    def __init__(self, folder: Path, lock: SessionLock) -> None:
        self.folder = folder
        self._lock = lock

    @classmethod
    def make(cls) -> Scratch:
        """A new one. Raises NoAttempts."""
        sweep()
        place = folders.attempts_path()
        name = secrets.token_hex(6)
        lock = SessionLock(place / f"{name}{_LOCK}")
        try:
            lock.acquire()
            folder = place / name
            folder.mkdir(mode=0o700)
        except OSError as error:
            lock.release()
            raise NoAttempts(
                f"no copies can be made in {place}: {(error.strerror or str(error)).lower()}"
            ) from error
        return cls(folder.resolve(), lock)

    def belongs_to(self, repository: Path) -> None:
        """Worktrees of this repository are about to be made here. Raises OSError."""
        (self.folder / _REPOSITORY).write_bytes(os.fsencode(repository))

    def remove(self) -> None:
        """Remove all that is in it, worktrees as well."""
        _remove(self.folder)
        self._lock.release()


def sweep() -> None:
    """Remove what processes that were killed have left. Never fails: the next start tries again."""
    place = folders.attempts_path()
    with suppress(OSError):
        for folder in [path for path in place.iterdir() if path.is_dir()]:
            lock = SessionLock(place / f"{folder.name}{_LOCK}")
            with suppress(OSError):
                if lock.acquire():
                    try:
                        _remove(folder.resolve())
                    finally:
                        lock.release()


def remove_tree(folder: Path) -> None:
    """Remove a folder, also one in which somebody has taken permissions away."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        for above, _, _ in os.walk(folder):
            # Not what a link leads to: that is not ours.
            if stat.S_ISDIR(Path(above).lstat().st_mode):
                with suppress(OSError):
                    Path(above).chmod(stat.S_IRWXU)
        shutil.rmtree(folder, ignore_errors=True)


def _remove(folder: Path) -> None:
    try:
        repository = Path(os.fsdecode((folder / _REPOSITORY).read_bytes()))
    except OSError:
        repository = None
    remove_tree(folder)
    if repository is not None:
        # Behind the folder: git's own entry is what is looked for at the next start.
        worktree.forget(repository, folder)

"""What was written and not sent yet, kept where a crash does not reach it.

Each process has a file of its own for the folder, and a lock on it as long as it lives. A file
whose lock is free was left behind by a process that is gone: whoever comes next takes it over.
"""

from __future__ import annotations

import glob
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

from gemma_local.app.file_replacing import replace_file
from gemma_local.app.sessions.lock import SessionLock
from gemma_local.app.written import Written, file_stem, read_written

EVERY_SECONDS: Final = 1.0


class DraftText:
    """The unsent text of this process, in a folder. ``keep`` returns at once, a thread writes."""

    def __init__(self, place: Path, folder: Path, *, every: float = EVERY_SECONDS) -> None:
        """``place`` holds the files of all folders; see ``folders.prompts_path``. At most one
        write in ``every`` seconds, but for an empty text: what was sent is not to come back."""
        self._place = place
        self._stem = f"{file_stem(folder)}."
        self._path: Path | None = None
        self._lock: SessionLock | None = None
        self._every = every
        self._writing = threading.Lock()
        self._change = threading.Condition()
        self._waiting: Written | None = None
        self._was_emptied = False
        self._is_closed = False
        self._thread: threading.Thread | None = None
        self.problem = ""
        """Why the text could not be written; "" if it could."""

    def keep(self, written: Written) -> None:
        """This is the text now; nothing is kept of an empty one."""
        with self._change:
            if self._is_closed:
                return
            self._waiting = written
            self._was_emptied |= not written.text
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="draft", daemon=True)
                self._thread.start()
            self._change.notify()

    def take_over(self) -> Written | None:
        """The newest text that a process which is gone left behind, from now on this one's.

        Reads files: not for the thread that draws. What ``keep`` was given last counts from the
        next call of it on.
        """
        for path in self._others():
            with suppress(OSError):
                lock = SessionLock(_lock_path(path))
                if not lock.acquire():
                    continue
                try:
                    written = read_written(path.read_bytes())
                    # Ours first, so that there is never none.
                    if written is not None:
                        self._write(written)
                    path.unlink()
                finally:
                    lock.release()
                if written is not None and written.text:
                    return written
        return None

    def close(self) -> None:
        """Write what waits to be written. An unsent text stays for whoever comes next."""
        with self._change:
            self._is_closed = True
            self._change.notify()
        if self._thread is not None:
            self._thread.join()
        if self._lock is not None:
            self._lock.release()

    def _run(self) -> None:
        while True:
            with self._change:
                while self._waiting is None and not self._is_closed:
                    self._change.wait()
                written, self._waiting, self._was_emptied = self._waiting, None, False
            if written is None:
                return
            try:
                self._write(written)
                self.problem = ""
            except OSError as error:
                self.problem = f"what you write is not kept: {error.strerror or error}"
            with self._change:
                self._change.wait_for(lambda: self._is_closed or self._was_emptied, self._every)

    def _write(self, written: Written) -> None:
        with self._writing:
            path = self._own_path()
            if written.text:
                replace_file(path, written.to_json().encode())
            else:
                path.unlink(missing_ok=True)

    def _own_path(self) -> Path:
        """This process's file, locked. Raises OSError."""
        if self._path is None:
            self._place.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = self._place / f"{self._stem}{os.getpid()}-{os.urandom(4).hex()}.draft"
            lock = SessionLock(_lock_path(path))
            # Nobody else knows of this name.
            lock.acquire()
            self._path, self._lock = path, lock
        return self._path

    def _others(self) -> list[Path]:
        """Files of this folder that are not ours, the newest first."""
        found = []
        for path in self._place.glob(f"{glob.escape(self._stem)}*.draft"):
            with suppress(OSError):
                found.append((path.stat().st_mtime, path))
        return [path for _, path in sorted(found, reverse=True) if path != self._path]


def _lock_path(path: Path) -> Path:
    return path.with_suffix(".lock")

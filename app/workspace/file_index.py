"""The files of a folder, known by the time that somebody looks for one."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Final

from gemma_local.app.workspace.errors import TooLarge
from gemma_local.app.workspace.fuzzy import Candidates
from gemma_local.app.workspace.listing import list_files

_FRESH_SECONDS: Final = 3.0
_FRESH_SHARE: Final = 20
"""A list that took a second to make is good for twenty."""


class FileIndex:
    """Lists a folder's files in a thread, and again when what it knows is old and asked for.

    May be used from several threads.
    """

    def __init__(self, folder: Path, *, fresh_seconds: float = _FRESH_SECONDS) -> None:
        self.folder = folder
        self._fresh_seconds = fresh_seconds
        self._lock = threading.Lock()
        self._known: Candidates | None = None
        self._trouble: TooLarge | None = None
        self._old_at = 0.0
        self._thread: threading.Thread | None = None

    def warm(self) -> None:
        """Begin to list the files, unless what is known is fresh. Returns at once."""
        with self._lock:
            if self._thread is None and time.monotonic() >= self._old_at:
                self._thread = threading.Thread(target=self._list, name="files", daemon=True)
                self._thread.start()

    @property
    def known(self) -> Candidates | None:
        """The files as they were last seen, None before there is a first list."""
        with self._lock:
            return self._known

    def files(self) -> Candidates:
        """The files as they were last seen, nearest first.

        Waits for the first list, up to two seconds: not for the thread that draws. Later ones are
        made while the one before is still used. Raises TooLarge.
        """
        self.warm()
        with self._lock:
            thread = self._thread if self._known is None else None
        if thread is not None:
            thread.join()
        with self._lock:
            if self._trouble is not None:
                raise self._trouble
            return Candidates(()) if self._known is None else self._known

    def _list(self) -> None:
        begun = time.monotonic()
        known, trouble = Candidates(()), None
        try:
            known = Candidates(list_files(self.folder).paths)
        except TooLarge as error:
            trouble = error
        except OSError:
            # The folder is gone, or may not be looked into: there are no files to offer.
            pass
        now = time.monotonic()
        with self._lock:
            self._known, self._trouble = known, trouble
            self._old_at = now + max(self._fresh_seconds, _FRESH_SHARE * (now - begun))
            self._thread = None

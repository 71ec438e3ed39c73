"""An answer that is written down while it comes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from gemma_local.app.sessions import rows
from gemma_local.app.sessions.entry import Entry
from gemma_local.models.message import Message

INTERVAL: Final = 0.4
"""Seconds between two writings, at least. A longer answer takes a few ms to write."""

Put = Callable[[int | None, Entry], Entry]
"""Writes an entry under its number (None: a new one); returns it with the number."""


class Stream:
    """Keeps the disk at most ``INTERVAL`` behind the screen.

    What comes between two writings is written by a timer, so that it is kept although the model
    pauses. Methods may be called from any thread, and again after SessionsUnavailable.
    """

    def __init__(self, put: Put, lock: threading.RLock) -> None:
        """``lock`` is the database's: with one of its own, a writer and the timer could each wait
        for the other."""
        self._put = put
        self._lock = lock
        self._at = rows.now()
        self._number: int | None = None
        self._latest: Message | None = None
        self._written = False
        self._last = -INTERVAL
        self._timer: threading.Timer | None = None
        self._problem: Exception | None = None
        self._ended = False
        self._result: Entry | None = None

    def write(self, message: Message) -> None:
        """The whole answer so far. Raises SessionsUnavailable, also for what a timer could not
        write; ValueError after the end."""
        with self._lock:
            if self._ended:
                raise ValueError("the answer has ended")
            self._latest, self._written = message, False
            problem, self._problem = self._problem, None
            if problem is not None:
                raise problem
            wait = self._last + INTERVAL - time.monotonic()
            if wait <= 0:
                self._write_latest()
            elif self._timer is None:
                self._timer = threading.Timer(wait, self._on_time)
                self._timer.daemon = True
                self._timer.start()

    def finish(
        self,
        message: Message,
        *,
        state: Literal["complete", "stopped"] = "complete",
        finish: str = "",
        report: Mapping[str, Any] | None = None,
        tokens: int | None = None,
        info: Mapping[str, Any] | None = None,
    ) -> Entry:
        """The answer is over; it is on the disk when this returns. Raises SessionsUnavailable."""
        with self._lock:
            if not self._ended:
                entry = Entry(
                    message=message,
                    number=0,
                    at=self._at,
                    state=state,
                    finish=finish,
                    report=report or {},
                    tokens=tokens,
                    info=info or {},
                )
                self._result = self._put(self._number, entry)
                self._end()
            assert self._result is not None
            return self._result

    def stop(
        self,
        *,
        finish: str = "",
        report: Mapping[str, Any] | None = None,
        info: Mapping[str, Any] | None = None,
    ) -> Entry | None:
        """Keep what there is as stopped; None if there is nothing. Raises SessionsUnavailable."""
        with self._lock:
            if self._ended:
                return self._result
            if self._latest is not None:
                return self.finish(
                    self._latest, state="stopped", finish=finish, report=report, info=info
                )
            self._end()
            return None

    def _write_latest(self) -> None:
        assert self._latest is not None
        self._last = time.monotonic()
        entry = Entry(message=self._latest, number=0, at=self._at, state="partial")
        self._number = self._put(self._number, entry).number
        self._written = True

    def _on_time(self) -> None:
        with self._lock:
            self._timer = None
            if self._ended or self._written:
                return
            try:
                self._write_latest()
            except Exception as error:  # noqa: BLE001 - it is raised where somebody listens
                self._problem = error

    def _end(self) -> None:
        self._ended = True
        self._latest = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

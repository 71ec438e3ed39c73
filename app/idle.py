"""What is done while the person reads or writes, and stops the moment that they are done."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator

from gemma_local.engine.client import Engine
from gemma_local.engine.messages import Event, Generate, Read


class Stopped(Exception):
    """The time is over: the person wants something."""


class Idle:
    """A thread for one piece of work at a time, which ``end`` stops."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._thread: threading.Thread | None = None
        self._is_over = threading.Event()
        self._is_worth_it = threading.Event()
        self._running: str | None = None

    def begin(self, work: Callable[[], None]) -> None:
        """Start ``work``. It uses the engine through ``run`` and waits with ``wait``."""
        self.end()
        self._is_over.clear()
        self._is_worth_it.clear()
        self._thread = threading.Thread(target=work, daemon=True)
        self._thread.start()

    def grant(self, seconds: float) -> None:
        """Give the work a little more time, until what matters of it is done (``done``)."""
        if self._thread is not None:
            self._is_worth_it.wait(seconds)

    def done(self) -> None:
        """Called by the work: what matters of it is done."""
        self._is_worth_it.set()

    def end(self) -> None:
        """Stop the work and wait until it has stopped."""
        thread = self._thread
        if thread is None:
            return
        self._is_over.set()
        while thread.is_alive():
            # Again and again: a cancel may overtake the request that it is meant for.
            if (request := self._running) is not None:
                self._engine.cancel(request)
            thread.join(0.05)
        # Not before: as long as the work runs, it has to know that it is the work.
        self._thread = None

    @property
    def is_here(self) -> bool:
        """Whether the caller is the work."""
        return threading.current_thread() is self._thread

    def wait(self, seconds: float) -> None:
        """Let time pass. Raises Stopped when it is over."""
        if self._is_over.wait(seconds):
            raise Stopped

    def run(self, request: Generate | Read) -> Generator[Event]:
        """The events of a request, which ends early when the time is over."""
        engine = self._engine
        self._running = request.id
        try:
            yield from (
                engine.read(request) if isinstance(request, Read) else engine.generate(request)
            )
        finally:
            self._running = None

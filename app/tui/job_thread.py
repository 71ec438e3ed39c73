"""A thread that does jobs one after the other, and can be asked to stop."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from gemma_local.app.stop import Stop
from gemma_local.app.tui.news import News, Notice, Work, Working
from gemma_local.app.unexpected import log_unexpected
from gemma_local.models.errors import GemmaLocalError

Job = Callable[[], None]


class JobThread:
    """What goes wrong with a job is told, and the next one is done all the same.

    Subclasses give it jobs with ``_do``, and say what else the thread does: ``_begin`` before each
    job, ``_rest`` when nothing waits, ``_leave`` at the end.
    """

    def __init__(self, tell: Callable[[News], None]) -> None:
        """``tell`` hears the news, in this thread."""
        self._tell = tell
        self._jobs: queue.SimpleQueue[tuple[Work, Stop, Job] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._stops: list[Stop] = []
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="desk", daemon=True)
        self._thread.start()

    def stop(self) -> bool:
        """End what is being done and what waits to be done; False if that is nothing."""
        with self._lock:
            stops = list(self._stops)
        for stop in stops:
            stop.ask()
        return bool(stops)

    def end(self, seconds: float) -> bool:
        """Let the thread end after all that waits; whether it did in so many seconds."""
        self._jobs.put(None)
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _do(self, work: Work, job: Job, stop: Stop | None = None) -> None:
        """Have a job done. ``stop`` is what ends it."""
        stop = Stop() if stop is None else stop
        with self._lock:
            self._stops.append(stop)
        self._jobs.put((work, stop, job))

    def _run(self) -> None:
        while (item := self._jobs.get()) is not None:
            work, stop, job = item
            if work:
                self._tell(Working(work))
            try:
                self._begin()
                job()
            except GemmaLocalError as error:
                self._tell(Notice(str(error), "error"))
            except Exception as error:  # noqa: BLE001 - the conversation goes on all the same
                # Once all is closed it is our own doing: the engine was taken away.
                if not self._is_closed:
                    self._tell(Notice(log_unexpected(error), "error"))
            finally:
                with self._lock:
                    self._stops.remove(stop)
            if self._jobs.empty():
                self._rest()
                self._tell(Working(""))
        self._leave()

    def _begin(self) -> None:
        """Before each job."""

    def _rest(self) -> None:
        """Nothing waits to be done."""

    def _leave(self) -> None:
        """At the end of the thread."""

"""Events on their way out of the engine process.

A thread writes them, so that a consumer that does not read cannot stop the decode loop: while the
pipe is full, what waits is merged (text is joined, progress is replaced) and stays small.
"""

from __future__ import annotations

import threading
from typing import BinaryIO

from gemma_local.engine.messages import Delta, Event, Loading, Prefill, Stats, encode


class Outbox:
    """Events in, lines of JSON out, in order."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._pending: list[Event] = []
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._write, name="outbox", daemon=True)
        self._thread.start()

    def put(self, event: Event) -> None:
        """Queue an event; returns at once."""
        with self._changed:
            # Backwards past other requests' events and other kinds: each of those is complete in
            # itself, so what waits stays a handful of events however long nobody reads.
            for at in range(len(self._pending) - 1, -1, -1):
                merged = _merge(self._pending[at], event)
                if merged is not None:
                    self._pending[at] = merged
                    break
            else:
                self._pending.append(event)
            self._changed.notify()

    def close(self) -> None:
        """Write what is queued, then stop."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _write(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._pending or self._closed)
                events, self._pending = self._pending, []
                if not events:
                    return
            try:
                self._stream.write(b"".join(encode(event) for event in events))
                self._stream.flush()
            except OSError:
                # The parent is gone; the command reader notices too and ends the process.
                return


def _merge(waiting: Event, event: Event) -> Event | None:
    """One event that says what both say, None if there is no such event."""
    match waiting, event:
        case Delta(), Delta() if waiting.id == event.id and not waiting.rest:
            return Delta(
                event.id,
                waiting.tokens + event.tokens,
                waiting.drafted + event.drafted,
                waiting.pieces + event.pieces,
                event.rest,
            )
        case Stats(), Stats() if waiting.id == event.id:
            return event
        case Prefill(), Prefill() if waiting.id == event.id:
            return event
        case Loading(), Loading() if waiting.stage == event.stage:
            return event
    return None

"""What comes out of a pipe, waited for no longer than a moment."""

from __future__ import annotations

import os
import queue
import selectors
import sys
import threading
from typing import IO, Final, Protocol

_CHUNK: Final = 1 << 16


class Pipe(Protocol):
    """The reading end of a pipe."""

    def read(self, seconds: float) -> bytes | None:
        """What is there within ``seconds``: b"" at the end, None if nothing came."""

    def close(self) -> None:
        """Read no more."""


def opened(stream: IO[bytes]) -> Pipe:
    """For a pipe of a process that was started with one."""
    return ThreadPipe(stream) if sys.platform == "win32" else WaitingPipe(stream)


class WaitingPipe:
    """Waits with the system's own call for it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._selector = selectors.DefaultSelector()
        self._selector.register(stream, selectors.EVENT_READ)

    def read(self, seconds: float) -> bytes | None:
        """See Pipe."""
        return os.read(self._stream.fileno(), _CHUNK) if self._selector.select(seconds) else None

    def close(self) -> None:
        """See Pipe."""
        self._selector.close()
        self._stream.close()


class ThreadPipe:
    """For Windows, which cannot wait for a pipe: a thread does nothing but read.

    It ends when all that hold the other end have; until then it is left alone.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        # It waits when nobody takes what it has read.
        self._queue: queue.Queue[bytes] = queue.Queue(maxsize=16)
        self._is_closed = threading.Event()
        threading.Thread(target=self._read, name="pipe", daemon=True).start()

    def read(self, seconds: float) -> bytes | None:
        """See Pipe."""
        try:
            return self._queue.get(timeout=seconds)
        except queue.Empty:
            return None

    def close(self) -> None:
        """See Pipe."""
        self._is_closed.set()

    def _read(self) -> None:
        data = b"more"
        with self._stream:
            while data:
                try:
                    data = os.read(self._stream.fileno(), _CHUNK)
                except OSError:
                    data = b""
                while not self._is_closed.is_set():
                    try:
                        self._queue.put(data, timeout=0.1)
                        break
                    except queue.Full:
                        continue
                else:
                    return

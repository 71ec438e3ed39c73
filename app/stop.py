"""The wish that something ends, from any thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Stop:
    """May be asked for at any time, also before what it ends has begun; it stays asked for."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._lock = threading.Lock()
        self._actions: list[Callable[[], None]] = []

    @property
    def is_asked(self) -> bool:
        return self._asked.is_set()

    def ask(self) -> None:
        """End it. Runs what ``calling`` was given, in this thread."""
        self._asked.set()
        with self._lock:
            actions = list(self._actions)
        for action in actions:
            action()

    @contextmanager
    def calling(self, action: Callable[[], None]) -> Iterator[None]:
        """Within the block, ``action`` is what ends it; at once if that was asked for before."""
        with self._lock:
            self._actions.append(action)
        try:
            if self.is_asked:
                action()
            yield
        finally:
            with self._lock:
                self._actions.remove(action)

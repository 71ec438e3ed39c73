"""An engine that is begun before it is known what it loads.

To start, the engine takes as long as all that finds out what to load: one does not wait for the
other. At most one waits to be taken; its process ends with this one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from gemma_local.app import folders
from gemma_local.engine.client import Engine, EngineDied

_waiting: Engine | None = None
_lock = threading.Lock()


def begin() -> Engine | None:
    """Begin one, unless one waits; it is `take` that says why there is none."""
    global _waiting
    with _lock:
        engine = _usable()
        if engine is None:
            engine = Engine(folders.log_path())
            try:
                engine.begin()
            except EngineDied:
                return None
            _waiting = engine
        return engine


def take() -> Engine:
    """The one that waits, or one that is yet to start."""
    global _waiting
    with _lock:
        engine, _waiting = _usable(), None
        return engine or Engine(folders.log_path())


def end() -> None:
    """Nothing will be loaded."""
    global _waiting
    with _lock:
        if _waiting is not None:
            _waiting.close(timeout=0.0)
            _waiting = None


@contextmanager
def needed() -> Iterator[None]:
    """A block after which one is needed: `end` if it fails."""
    try:
        yield
    except BaseException:
        end()
        raise


def _usable() -> Engine | None:
    """The one that waits, if it is alive and writes where it should by now."""
    if _waiting is None:
        return None
    if _waiting.is_begun and _waiting.log_path == folders.log_path():
        return _waiting
    _waiting.close(timeout=0.0)
    return None

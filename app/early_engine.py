"""An engine that is begun before it is known what it loads.

To start, the engine takes as long as all that finds out what to load: one does not wait for the
other. Where nothing comes of it, its process ends with this one.
"""

from __future__ import annotations

from gemma_local.app import folders
from gemma_local.engine.client import Engine, EngineDied

_begun: Engine | None = None


def begin() -> None:
    """Begin one, for the next who takes it."""
    global _begun
    if _begun is None:
        _begun = _begin()


def take() -> Engine | None:
    """The one that was begun, or another one; None if none can be started, which is said when it
    is needed."""
    global _begun
    engine, _begun = _begun, None
    return engine if engine is not None and engine.is_begun else _begin()


def _begin() -> Engine | None:
    engine = Engine(folders.log_path())
    try:
        engine.begin()
    except EngineDied:
        return None
    return engine

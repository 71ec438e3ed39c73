"""How much memory may be spent on not reading things twice."""

from __future__ import annotations

from typing import Final

from gemma_local.engine.commands import MIB
from gemma_local.models.target import TargetFacts

LEAST: Final = 64 * MIB
USUAL: Final = 512 * MIB
CHECKPOINTS: Final = 4
"""Checkpoints that there should be room for: the oldest, and those around the last answer."""
_SHARE: Final = 4


def cache_bytes(facts: TargetFacts, available: int | None = None) -> int:
    """Bytes for checkpoints and parked conversations where nobody chose.

    512 MiB, or what four checkpoints take (E2B: 24 MiB, 31B: 3.1 GiB), but at most a fourth of
    the memory that is left once the weights are in it. ``available`` is that of the machine before
    they are loaded, None to ask the operating system.
    """
    if available is None:
        # Not at the top: whoever planned knows, and it takes its time.
        import psutil

        available = psutil.virtual_memory().available
    left = available - facts.path.stat().st_size
    window = facts.attention.window_bytes(2) if facts.attention is not None else 0
    return checkpoint_budget(window, left)


def checkpoint_budget(window: int, left: int) -> int:
    """The same from the bytes of one window and those that are left."""
    return max(min(max(USUAL, CHECKPOINTS * window), left // _SHARE), LEAST)

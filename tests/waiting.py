"""Waiting for what must come, for as long as a busy machine may need."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Final

PATIENCE: Final = 180.0
"""Seconds until something that must come is given up. So long nobody waits who is not in trouble:
no test may fail because other programs have the processor."""


def until(holds: Callable[[], object], every: float = 0.01) -> None:
    """Wait until something is the case, looking so often (seconds)."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(every)


def nap(seconds: int) -> str:
    """A ``sleep`` as no other run of the tests has it: what still sleeps is found by its words."""
    return f"sleep {seconds}.{os.getpid()}"

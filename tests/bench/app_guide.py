"""From an empty home without a network to the first answer of the small guide, on the screen."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import psutil

from tests.bench.app_terminal import FRAME_END, AppTerminal
from tests.bench.budget import Budget

_RUNS: Final = 5
_QUESTION: Final = "What is acceptance?"
_ANSWER: Final = rb"per pass.*?" + FRAME_END


def measure(_model: Path, home: Path) -> Iterator[Budget]:
    """No model is given: the pair in the package is what there is. Processor time is that of the
    app and of all processes that it started, those that have ended included."""
    processes, wall = [], []
    for number in range(_RUNS):
        start = time.monotonic()
        os.environ["HF_HUB_OFFLINE"] = "1"
        try:
            app = AppTerminal(home / f"guide-{number}")
        finally:
            del os.environ["HF_HUB_OFFLINE"]
        with app:
            app.wait_for(rb"small guide.*?" + FRAME_END)
            app.type(_QUESTION + "\r")
            app.wait_for(_ANSWER)
            wall.append(time.monotonic() - start)
            processes.append(_of_all(psutil.Process(app.process.pid)))
    yield Budget("empty home, offline, to the guide's first answer", processes, "s", 3.0)
    yield Budget("  the same on the clock", wall, "s")


def _of_all(process: psutil.Process) -> float:
    total = 0.0
    for one in [process, *process.children(recursive=True)]:
        times = one.cpu_times()
        total += times.user + times.system
        # Linux: what children have had that were waited for.
        total += getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0)
    return total

"""How many threads to compute with: the CPUs this process may use, and fewer when they are taken.

llama.cpp's CPU backend synchronises its threads at every graph node, over a thousand times a
token. When another process takes one of the CPUs, every barrier waits for a thread that is not
running, and a pass can cost ten times as much: a coding assistant that runs the user's tests while
it writes meets this all day. So the time per pass is watched, and threads step down and up with it.
"""

from __future__ import annotations

import math
import os
import statistics
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final

from gemma_local.engine.hardware.cgroup import ROOT, cpu_quota, whole_cpus
from gemma_local.engine.hardware.topology import CPUS, cores


def usable_cpus(cgroup: Path = Path(ROOT)) -> int:
    """CPUs that this process may really use: affinity mask and cgroup quota, at least 1."""
    if hasattr(os, "sched_getaffinity"):
        cpus = len(os.sched_getaffinity(0))
    else:
        cpus = os.cpu_count() or 1
    try:
        quota = cpu_quota(_read, str(cgroup))
    except ValueError:
        quota = None
    return whole_cpus(cpus, quota)


def physical_cores(cpus: int, sys_cpu: Path = Path(CPUS)) -> int:
    """Physical cores among the usable CPUs, where Linux tells; else ``cpus``."""
    if not hasattr(os, "sched_getaffinity"):
        return cpus
    own_cores = cores(_read, os.sched_getaffinity(0), str(sys_cpu))
    return cpus if own_cores is None else max(1, min(cpus, own_cores))


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text()
    except OSError:
        return None


class ThreadGovernor:
    """Steps the thread count down while passes are much slower than usual, and up again later.

    ``observe`` takes the rows and seconds of a pass. Passes of different row counts are compared
    with their own kind only. When they collapse, one thread less, half of them and a single one
    are tried, some passes each, and the fastest stays: while other processes keep the CPUs busy
    one thread that nobody waits for can be faster than several that wait for each other.
    """

    COLLAPSE: Final = 2.5
    """How many times slower than usual the recent passes must be to step down."""
    RECENT: Final = 4
    """Passes in a row that must be slow: one hiccup is not contention. A count is tried so long."""
    MOST_TRIED: Final = 16
    """Passes after which a count has been tried, if they cannot be compared with usual ones."""
    PATIENCE: Final = 5.0
    """Seconds before the full count, or all of them, are tried again; doubles up to 80."""

    def __init__(self, threads: int, apply: Callable[[int], None]) -> None:
        self._full = threads
        self._apply = apply
        self.threads = threads
        self._usual: dict[int, deque[float]] = {}
        self._ratios: deque[float] = deque(maxlen=self.RECENT)
        self._patience = self.PATIENCE
        self._try_at = 0.0
        self._to_try: list[int] = []
        # How many times slower than usual each count was that has been tried.
        self._tried: dict[int, float] = {}
        self._passes = 0

    def observe(self, rows: int, seconds: float, now: float) -> None:
        """Note a pass that ended at ``now`` (seconds of any steady clock)."""
        if self._full == 1 or not seconds > 0.0:
            return
        usual = self._usual.setdefault(rows, deque(maxlen=64))
        if len(usual) >= self.RECENT:
            self._ratios.append(seconds / statistics.median(usual))
        if self._tried:
            self._go_on_trying(now)
            return
        collapsed = len(self._ratios) == self.RECENT and min(self._ratios) > self.COLLAPSE
        if self.threads == self._full and not collapsed:
            # Only passes at full strength tell what is usual, and only those that were not slow.
            if not self._ratios or self._ratios[-1] < self.COLLAPSE:
                usual.append(seconds)
                if len(self._ratios) == self.RECENT and max(self._ratios) < self.COLLAPSE:
                    self._patience = self.PATIENCE
        elif now < self._try_at:
            return
        elif collapsed:
            self._begin_trying()
        else:
            self._try_at = now
            self._patience = min(self._patience * 2, 80.0)
            self._set(self._full)

    def _begin_trying(self) -> None:
        counts = {self._full, self._full - 1, (self._full + 1) // 2, 1} - {0, self.threads}
        self._to_try = sorted(counts)
        self._tried = {self.threads: statistics.median(self._ratios)}
        self._set(self._to_try.pop())

    def _go_on_trying(self, now: float) -> None:
        self._passes += 1
        if len(self._ratios) < self.RECENT and self._passes < self.MOST_TRIED:
            return
        # The first pass at another count wakes threads, or waits for them to sleep.
        ratios = list(self._ratios)[1:]
        self._tried[self.threads] = statistics.median(ratios) if ratios else math.inf
        if self._to_try:
            self._set(self._to_try.pop())
            return
        best = min(self._tried, key=lambda count: (self._tried[count], count))
        self._tried = {}
        self._try_at = now + self._patience
        if best == self._full:
            self._patience = min(self._patience * 2, 80.0)
        self._set(best)

    def _set(self, threads: int) -> None:
        self._ratios.clear()
        self._passes = 0
        if threads != self.threads:
            self.threads = threads
            self._apply(threads)

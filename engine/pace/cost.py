"""What a pass costs by its number of rows, and what a drafted token costs, in measured seconds.

Times vary for two reasons: all of them together, when another process takes the CPU or the clock
rate drops, and each for itself, because it was not known well. A new time is shared out between
the two in proportion to how uncertain each is, as a Kalman filter does, in logarithms; so a pass
of four rows that takes twice as long as usual tells that one row takes longer, too. Hiccups are
clipped.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_right, insort
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final

DRAFTED: Final = 0
"""In the place of a number of rows: one drafted token, of all sequences together."""

_CLIP: Final = 0.35
"""Largest deviation, as a logarithm, that one time counts for while all is quiet."""
_QUIET: Final = 0.05
"""Variance of what all times have in common, in units of that of a single time."""
_ALARM: Final = 3
"""So many times in a row far off on the same side mean that all has changed."""
_MEMORY: Final = 40.0
"""Times that an average goes back."""
_FEW: Final = 3
"""Times below which an average is doubted."""
_NOTICED: Final = 0.01
"""Change, as a logarithm, below which expectations are not worked out anew."""
_OFTEN: Final = 16
"""Times after which they are all the same."""
_STALE: Final = 150
"""Times after which one that was not measured since is doubted as much as it will ever be."""
_STEP: Final = 0.03
"""What another row is thought to cost until it was tried, of the pass: little, so that it is."""
_BLOCK: Final = 4
"""Multiples of so many rows may be cheaper than fewer (`engine.exactness`); they are tried."""
_DOUBT: Final = 0.12
"""Discount on a pass that was measured once, as a logarithm: it may have been a hiccup."""
_NEAR: Final = 2
"""Rows more or less for which a time is news, too."""
_LEAST_DOUBT, _MOST_DOUBT = 0.03, 0.3
"""Discounts on what was not measured for long, while times hardly vary and while they vary much:
whatever may pay is to be tried again now and then, or a wrong time would stay for ever."""
_DRAFT_SHARE: Final = 0.05
"""What a drafted token is thought to cost until one was made, of a pass of one row (E2B: 0.03 to
0.06 on two cores)."""
_EDGES: Final = (2048, 8192, 32768, 131072)
"""Tokens of context at which attention costs enough more for a table of its own."""
_SHORTEST, _LONGEST = 1e-7, 1e4


class CostTable:
    """Seconds by number of rows at one number of threads, for contexts of about one length.

    ``known`` are the numbers of rows that have been measured, in order.
    """

    def __init__(self, most_rows: int, unrest: float = 0.3) -> None:
        self._logs = [0.0] * (most_rows + 1)
        self._counts = [0.0] * (most_rows + 1)
        self.known: list[int] = []
        self._seen_at = [0] * (most_rows + 1)
        self._unrest = unrest
        self._scatter = 0.0
        self._streak = 0
        self._observed = 0
        self._seconds: list[float] | None = None
        self._moved = 0.0

    def observe(self, rows: int, seconds: float) -> None:
        """Take in a time. One that cannot be is left out."""
        # NaN fails this, too.
        if not _SHORTEST < seconds < _LONGEST or not 0 <= rows < len(self._logs):
            return
        value, count = math.log(seconds), self._counts[rows]
        self._counts[rows] = min(count + 1.0, _MEMORY)
        if count < _FEW:
            self._seconds = None
        if not count:
            self._logs[rows] = min(value, self._ceiling(rows))
            self._note(rows)
        else:
            self._correct(rows, value - self._logs[rows], 1.0 / count)
        self._observed += 1
        if self._observed % _OFTEN == 0:
            self._seconds = None
        # Passes of about as many rows speak for each other.
        for near in range(max(rows - _NEAR, 1), min(rows + _NEAR + 1, len(self._seen_at))):
            self._seen_at[near] = self._observed

    def _correct(self, rows: int, off: float, own: float) -> None:
        self._watch_for_change(off)
        clip = _CLIP + 2.0 * (self._unrest - _QUIET)
        off = min(max(off, -clip), clip)
        self._scatter += (min(abs(off), _CLIP) - self._scatter) / 32
        both = own + self._unrest
        off *= both / (both + 1.0)
        common = off * self._unrest / both
        self._logs = [log + common for log in self._logs]
        self._logs[rows] += off - common
        self._moved += abs(off)
        if self._moved > _NOTICED:
            self._moved, self._seconds = 0.0, None
        self._unrest = _QUIET + (self._unrest - _QUIET) * 0.8

    def _watch_for_change(self, off: float) -> None:
        if abs(off) < _CLIP / 2:
            self._streak = 0
        else:
            self._streak = self._streak + 1 if off > 0 else self._streak - 1
        if abs(self._streak) >= _ALARM:
            self._streak, self._unrest = 0, 1.0

    def _note(self, rows: int) -> None:
        """So many rows were measured."""
        if rows != DRAFTED and rows not in self.known:
            insort(self.known, rows)

    def _ceiling(self, rows: int) -> float:
        """The most that a first time is believed: rows one by one would hardly take longer."""
        known = [n for n in self.known if n < rows]
        if rows == DRAFTED or not known:
            return math.inf
        return self._logs[known[-1]] + math.log(1.2 * rows / known[-1])

    @property
    def widest(self) -> int:
        """The largest number of rows that has been measured, 0 before the first."""
        return self.known[-1] if self.known else 0

    def count(self, rows: int) -> float:
        """How many times an estimate rests on; endless beyond the rows that are estimated."""
        return self._counts[rows] if rows < len(self._counts) else math.inf

    def seconds(self) -> list[float]:
        """Expected seconds by number of rows; the first entry is for one drafted token.

        What was never measured is priced so that it gets tried: hardly more than fewer rows.
        """
        if self._seconds is None:
            self._seconds = self._expected()
        return self._seconds

    def _expected(self) -> list[float]:
        logs, counts, known = self._logs, self._counts, self.known
        if not known:
            expected = [1.0 + _STEP * (n - 1) for n in range(len(logs))]
        else:
            expected = [math.exp(logs[known[0]])] * len(logs)
            most = min(_LEAST_DOUBT + self._scatter, _MOST_DOUBT)
            for low, high in pairwise([*known, len(logs)]):
                doubt = most * min(1.0, (self._observed - self._seen_at[low]) / _STALE)
                if counts[low] < _FEW:
                    doubt += _DOUBT / counts[low]
                at = math.exp(logs[low] - doubt if low > known[0] else logs[low])
                expected[low] = at
                rise = _STEP * at
                if high < len(logs):
                    rise = max(rise, (math.exp(logs[high]) - at) / (high - low))
                expected[low:high] = [at + rise * n for n in range(high - low)]
                for n in range(low - low % _BLOCK + _BLOCK, high, _BLOCK):
                    expected[n] = at * (1 + _STEP * (n - low))
        making = counts[DRAFTED]
        expected[DRAFTED] = math.exp(logs[DRAFTED]) if making else _DRAFT_SHARE * expected[1]
        return expected

    def resembling(self) -> CostTable:
        """A table to begin with where all may be faster or slower alike."""
        other = CostTable(len(self._logs) - 1, unrest=1.0)
        other._logs = self._logs[:]
        other._counts = [min(count, 2.0) for count in self._counts]
        other.known = self.known[:]
        return other

    def entries(self) -> Iterator[tuple[int, float, float]]:
        """(rows, seconds, times it rests on) of all that was measured."""
        for n, count in enumerate(self._counts):
            if count:
                yield n, math.exp(self._logs[n]), count

    def restore(self, rows: int, seconds: float, count: float) -> None:
        """Take over an entry of an earlier run."""
        if _SHORTEST < seconds < _LONGEST and 0 <= rows < len(self._logs) and count > 0:
            self._logs[rows] = math.log(seconds)
            # The machine may be busier, or faster, than it was then.
            self._counts[rows] = min(count, 6.0)
            self._note(rows)
            self._unrest, self._seconds = 0.5, None


class Costs:
    """Tables by number of threads and length of the context."""

    def __init__(self, most_rows: int) -> None:
        self._most_rows = most_rows
        self._tables: dict[tuple[int, int], CostTable] = {}
        self._latest: tuple[int, range, CostTable] | None = None

    def table(self, threads: int, context: int) -> CostTable:
        """That for passes with so many threads at so many tokens of context.

        One that is not there yet begins as the nearest one.
        """
        latest = self._latest
        if latest is not None and threads == latest[0] and context in latest[1]:
            return latest[2]
        bucket = bisect_right(_EDGES, context)
        key = threads, bucket
        found = self._tables.get(key)
        if found is None:
            near = min(self._tables, key=lambda k: _distance(k, key), default=None)
            fresh = CostTable(self._most_rows)
            found = fresh if near is None else self._tables[near].resembling()
            self._tables[key] = found
        edges = (0, *_EDGES, sys.maxsize)
        self._latest = threads, range(edges[bucket], edges[bucket + 1]), found
        return found

    def as_plain(self) -> dict[str, list[list[float]]]:
        """For a file; `restore` takes it."""
        return {
            f"{threads} {bucket}": [[n, seconds, count] for n, seconds, count in table.entries()]
            for (threads, bucket), table in self._tables.items()
        }

    def restore(self, plain: Mapping[str, list[list[float]]]) -> None:
        """Take over what an earlier run learned. Raises ValueError, TypeError for anything else."""
        for name, entries in plain.items():
            threads, bucket = map(int, name.split())
            table = CostTable(self._most_rows)
            for rows, seconds, count in entries:
                table.restore(int(rows), float(seconds), float(count))
            self._tables[threads, bucket] = table
        self._latest = None


def _distance(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return abs(one[0] - other[0]), abs(one[1] - other[1])

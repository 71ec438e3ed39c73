"""How the speed of one answer ran."""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from typing import Final

_MOST_POINTS: Final = 4096
"""A quarter of an hour at four points a second; then every second one goes."""


class SpeedCourse:
    """Tokens decoded over the seconds that decoding took, as the engine's clock has them.

    Between two points tokens are taken to have come evenly.
    """

    def __init__(self) -> None:
        self._seconds = [0.0]
        self._tokens = [0.0]

    def add(self, seconds: float, tokens: int) -> None:
        """Decoding has taken ``seconds`` and yielded ``tokens``, both since the answer began.

        What does not lie behind the last point is left out.
        """
        if seconds <= self._seconds[-1] or tokens < self._tokens[-1]:
            return
        if len(self._seconds) >= _MOST_POINTS:
            self._seconds, self._tokens = self._seconds[::2], self._tokens[::2]
        self._seconds.append(seconds)
        self._tokens.append(float(tokens))

    @property
    def seconds(self) -> float:
        """Length of the course."""
        return self._seconds[-1]

    def rate(self, start: float, end: float) -> float:
        """Tokens a second between two moments, in seconds; 0 where there is no time between."""
        start, end = max(start, 0.0), min(end, self.seconds)
        return (self._at(end) - self._at(start)) / (end - start) if end > start else 0.0

    def now(self, window: float) -> float:
        """Tokens a second in the last ``window`` seconds."""
        return self.rate(self.seconds - window, self.seconds)

    def last(self, count: int, step: float) -> list[float]:
        """Tokens a second in each of the last ``count`` steps of ``step`` seconds, oldest first.

        Steps begin at multiples of ``step``, so that a series only moves when one is over; the one
        that is not over yet is left out unless it is the only one.
        """
        whole = int(self.seconds / step)
        if not whole:
            return [self.rate(0.0, self.seconds)] if self.seconds else []
        return [self.rate(i * step, (i + 1) * step) for i in range(max(whole - count, 0), whole)]

    def parts(self, count: int) -> list[float]:
        """Tokens a second in ``count`` equal parts of the whole course, fewer where there are no
        more points."""
        count = min(count, len(self._seconds) - 1)
        edges = [self.seconds * i / count for i in range(count + 1)] if count > 0 else []
        return [self.rate(a, b) for a, b in pairwise(edges)]

    def _at(self, seconds: float) -> float:
        """Tokens by then."""
        behind = bisect_left(self._seconds, seconds)
        if behind == 0:
            return self._tokens[0]
        if behind == len(self._seconds):
            return self._tokens[-1]
        early, late = self._seconds[behind - 1], self._seconds[behind]
        part = (seconds - early) / (late - early)
        return self._tokens[behind - 1] + part * (self._tokens[behind] - self._tokens[behind - 1])

"""Classes of matches of prompt lookup: a longer one goes on as foretold more often."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

_LONGER: Final = (3, 4, 6, 9, 13, 20, 32, 48)
"""Lengths in tokens at which the next class begins."""
BELIEFS: Final = (0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.9, 0.93)
"""Shares of the tokens behind a match of each class that are right, before any were seen."""


def match_place(length: int) -> int:
    """The class of a match of so many tokens."""
    return bisect_right(_LONGER, length)


def match_runs(length: int, count: int) -> Iterator[tuple[int, int]]:
    """The classes that a match of so many tokens goes through while it grows by ``count``, with the
    number of tokens for which it is in each."""
    end = length + count
    while length < end:
        place = bisect_right(_LONGER, length)
        after = min(_LONGER[place], end) if place < len(_LONGER) else end
        yield place, after - length
        length = after

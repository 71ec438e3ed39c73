"""Which lines of two texts are the same, in a time that does not run away.

difflib alone takes the square of the lines where many are alike. Here lines that occur once in each
text are matched first, in the longest order that both have them in; difflib sees only what lies
between, if it is small.
"""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

SMALL: Final = 250_000
"""Pairs of lines that difflib may look at in one stretch, which takes about 50 ms at worst."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Lines ``old_start`` to ``old_end`` of one text and ``new_start`` to ``new_end`` of the other,
    counted from 0, which are the same or not."""

    is_same: bool
    old_start: int
    old_end: int
    new_start: int
    new_end: int


def line_diff(old: Sequence[str], new: Sequence[str]) -> list[Stretch]:
    """All lines of both, in order, as stretches that differ and stretches that do not."""
    stretches: list[Stretch] = []
    old_at = new_at = 0
    pairs = (*_same(old, new, 0, len(old), 0, len(new)), (len(old), len(new), 0))
    for old_start, new_start, size in pairs:
        if old_at < old_start or new_at < new_start:
            stretches.append(Stretch(False, old_at, old_start, new_at, new_start))
        old_at, new_at = old_start + size, new_start + size
        if size:
            last = stretches[-1] if stretches else None
            if last is not None and last.is_same:
                old_start, new_start = last.old_start, last.new_start
                stretches.pop()
            stretches.append(Stretch(True, old_start, old_at, new_start, new_at))
    return stretches


def _same(
    old: Sequence[str], new: Sequence[str], low: int, high: int, new_low: int, new_high: int
) -> Iterator[tuple[int, int, int]]:
    """Starts and size of the stretches that are the same, of parts of both texts."""
    start = low
    while low < high and new_low < new_high and old[low] == new[new_low]:
        low, new_low = low + 1, new_low + 1
    if low > start:
        yield start, new_low - (low - start), low - start
    end = high
    while low < high and new_low < new_high and old[high - 1] == new[new_high - 1]:
        high, new_high = high - 1, new_high - 1
    if low < high and new_low < new_high:
        if (high - low) * (new_high - new_low) <= SMALL:
            matcher = difflib.SequenceMatcher(
                None, old[low:high], new[new_low:new_high], autojunk=False
            )
            for match in matcher.get_matching_blocks()[:-1]:
                yield low + match.a, new_low + match.b, match.size
        else:
            yield from _between_anchors(old, new, low, high, new_low, new_high)
    if end > high:
        yield high, new_high, end - high


def _between_anchors(
    old: Sequence[str], new: Sequence[str], low: int, high: int, new_low: int, new_high: int
) -> Iterator[tuple[int, int, int]]:
    anchors = _anchors(old, new, low, high, new_low, new_high)
    if not anchors:
        return
    for old_at, new_at in (*anchors, (high, new_high)):
        # Also where an anchor is followed by the next: there is nothing between them then.
        yield from _same(old, new, low, old_at, new_low, new_at)
        if old_at < high:
            yield old_at, new_at, 1
        low, new_low = old_at + 1, new_at + 1


def _anchors(
    old: Sequence[str], new: Sequence[str], low: int, high: int, new_low: int, new_high: int
) -> list[tuple[int, int]]:
    """Lines that occur once in each part: the longest series that ascends in both."""
    counts, new_counts = Counter(old[low:high]), Counter(new[new_low:new_high])
    places = {
        line: index
        for index, line in enumerate(new[new_low:new_high], new_low)
        if new_counts[line] == 1 and counts.get(line) == 1
    }
    pairs = [(i, places[line]) for i, line in enumerate(old[low:high], low) if line in places]
    # Patience sorting: the smallest end of a series of each length, and how it was reached.
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        last[length : length + 1] = [index]
    series: list[tuple[int, int]] = []
    index = last[-1] if last else -1
    while index >= 0:
        series.append(pairs[index])
        index = before[index]
    return series[::-1]

"""Which parts of an answer were drafted and accepted."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TypeAlias

Spans: TypeAlias = Sequence[tuple[int, int]]
"""Starts and ends of offsets into a text, ascending and apart from each other."""


def cut_spans(spans: Spans, start: int, end: int) -> list[tuple[int, int]]:
    """The parts of ``spans`` between ``start`` and ``end``, counted from ``start``."""
    first = bisect_right(spans, start, key=lambda span: span[1])
    last = bisect_left(spans, end, key=lambda span: span[0])
    return [(max(low, start) - start, min(high, end) - start) for low, high in spans[first:last]]

"""Which lines of a file are most like those that a model quoted.

Words that few lines have tell where it may be; only the likeliest places are looked at closely.
"""

from __future__ import annotations

import difflib
import heapq
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

LEAST: Final = 0.9
"""Of two texts that are taken for the same."""

_PLACES: Final = 12
_COMPARED: Final = 400
"""Pairs of different lines that are compared; a pair takes up to milliseconds."""
_LONG: Final = 200
"""Characters beyond which lines are the same or not at all alike."""
_COMMON: Final = 50
_COMMON_SHARE: Final = 0.02
_MOST_OF_ONE: Final = 2_000
"""Lines with one word that are considered, if there are none but common words."""
_WORD: Final = re.compile(r"\w+")


def most_alike(lines: Sequence[str], asked: Sequence[str]) -> list[int]:
    """Where nine tenths of ``asked`` stand in ``lines``, blanks aside."""
    compare = _Comparison(asked)
    return [start for start in _places(lines, asked) if compare.with_(lines, start) >= LEAST]


def nearest_lines(lines: Sequence[str], asked: Sequence[str], count: int = 3) -> list[int]:
    """Up to ``count`` lines, by index, that were probably meant: of one line those most like it, of
    several those that are not as they were quoted, at the place that is most like them."""
    asked = [line for line in asked if line.strip()]
    compare = _Comparison(asked)
    scored = [(compare.with_(lines, start), start) for start in _places(lines, asked)]
    scored = [(score, start) for score, start in scored if score > 0.3]
    if not scored:
        return []
    scored.sort(key=lambda pair: (-pair[0], pair[1]))
    if len(asked) == 1:
        return sorted(start for _, start in scored[:count])
    start = scored[0][1]
    window = range(start, min(start + len(asked), len(lines)))
    other = [i for i in window if _squeezed(lines[i]) != _squeezed(asked[i - start])]
    return (other or list(window))[:count]


class _Comparison:
    """Holds the lines that were asked for against others, within limits."""

    def __init__(self, asked: Sequence[str]) -> None:
        self._asked = [_squeezed(line) for line in asked]
        self._whole = sum(map(len, self._asked)) or 1
        self._left = _COMPARED
        self._known: dict[tuple[str, str], float] = {}

    def with_(self, lines: Sequence[str], start: int) -> float:
        """How alike they are to those from ``start``: 0 to 1, long lines counting for more."""
        alike = 0.0
        for asked, line in zip(self._asked, lines[start : start + len(self._asked)], strict=False):
            alike += len(asked) * self._ratio(asked, _squeezed(line))
        return alike / self._whole

    def _ratio(self, one: str, other: str) -> float:
        if one == other:
            return 1.0
        if max(len(one), len(other)) > _LONG or not one or not other:
            return 0.0
        if (known := self._known.get((one, other))) is not None:
            return known
        if not self._left:
            return 0.0
        self._left -= 1
        ratio = difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()
        self._known[one, other] = ratio
        return ratio


def _places(lines: Sequence[str], asked: Sequence[str]) -> list[int]:
    """Where ``asked`` may begin, likeliest first."""
    sought: dict[str, list[int]] = defaultdict(list)
    for index, line in enumerate(asked):
        for word in set(_WORD.findall(line)):
            sought[word].append(index)
    found: dict[str, list[int]] = defaultdict(list)
    for index, line in enumerate(lines):
        for word in set(_WORD.findall(line)).intersection(sought):
            found[word].append(index)
    common = max(_COMMON, int(len(lines) * _COMMON_SHARE))
    telling = [word for word in found if len(found[word]) <= common]
    votes: dict[int, float] = defaultdict(float)
    last = max(0, len(lines) - len(asked))
    for word in telling or sorted(found, key=lambda each: len(found[each]))[:1]:
        weight = len(word) / len(found[word])
        for index in sought[word][:_COMMON]:
            for place in found[word][:_MOST_OF_ONE]:
                if 0 <= place - index <= last:
                    votes[place - index] += weight
    if not votes:
        # Not a word in common: of a short file all places are looked at.
        return list(range(last + 1 if last < _COMPARED // 2 else 0))
    return heapq.nlargest(_PLACES, votes, key=lambda start: (votes[start], -start))


def _squeezed(line: str) -> str:
    return " ".join(line.split())

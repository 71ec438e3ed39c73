"""Finding paths by some of their characters.

All characters of a query stand in a path in their order. Which paths come first is what matters:
those where the characters begin parts and words, stand together, and are in the file's name. Most
paths are told apart by cheap means, and only the best are looked at closely.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_CLOSELY: Final = 200
"""Paths that are looked at closely."""
_LONGEST: Final = 64
"""Characters of a query that count."""

_PART, _WORD, _RUN, _NAME, _FIRST = 10, 8, 7, 2, 6
"""What a character is worth at the start of a part of the path or of a word in it, right behind
the one before, in the file's name, and at its very start."""
_GAP, _GAP_MORE = 3, 0.2
"""What a gap costs, and each further character of it."""
_WHOLE_NAME: Final = 20
_NEVER: Final = float("-inf")


@dataclass(frozen=True, slots=True)
class Match:
    """A text that was found, and the indices of the characters that were looked for."""

    text: str
    positions: tuple[int, ...] = ()
    score: float = 0.0


class Candidates:
    """Texts made ready for being searched again and again; the order breaks ties."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = tuple(texts)
        self._folded = [_folded(text) for text in self.texts]
        self._names = [text.rpartition("/")[2] for text in self._folded]
        self._starts = [_initials(text) for text in self.texts]

    def best(self, query: str, count: int = 50) -> list[Match]:
        """The ``count`` best matches, best first; for "" the first texts.

        With an upper-case letter in it ``query`` only finds what is written like it.
        """
        query = query[:_LONGEST]
        if not query:
            return [Match(text) for text in self.texts[:count]]
        matches = [
            match
            for index in self._likely(query)
            if (match := best_match(query, self.texts[index])) is not None
        ]
        # Sorting is stable, and the likely ones come in their order.
        matches.sort(key=lambda match: -match.score)
        return matches[:count]

    def _likely(self, query: str) -> list[int]:
        """Indices of the texts that hold all characters in order, the most promising of them."""
        is_exact = query != query.lower()
        wanted = _folded(query)
        has_all = _in_order(query if is_exact else wanted).match
        searched = self.texts if is_exact else self._folded
        found = [index for index, text in enumerate(searched) if has_all(text)]
        if len(found) <= _CLOSELY:
            return found
        folded, names, starts = self._folded, self._names, self._starts

        def rank(index: int) -> tuple[int, int, int]:
            name = names[index]
            if name.startswith(wanted):
                order = 0
            elif wanted in starts[index]:
                order = 1
            elif wanted in name:
                order = 2
            elif wanted in folded[index]:
                order = 3
            else:
                order = 4
            return order, len(folded[index]), index

        return sorted(heapq.nsmallest(_CLOSELY, found, key=rank))


def best_match(query: str, text: str) -> Match | None:
    """The best way in which the characters of ``query`` stand in ``text``, None if they don't."""
    is_exact = query != query.lower()
    wanted = query if is_exact else _folded(query)
    searched = text if is_exact else _folded(text)
    if not wanted:
        return Match(text)
    worth = _worths(text)
    length = len(text)
    # best[i]: the score of the query's characters so far, the last of them at i.
    best = [_NEVER] * length
    came_from: list[list[int]] = []
    for place, character in enumerate(wanted):
        now = [_NEVER] * length
        origins = [-1] * length
        # The best score that ends before i - 1, less what the gap up to i costs.
        gap_score, gap_origin = _NEVER, -1
        for i in range(place, length):
            gap_score -= _GAP_MORE
            if i >= 2 and best[i - 2] - _GAP > gap_score:
                gap_score, gap_origin = best[i - 2] - _GAP, i - 2
            if searched[i] != character:
                continue
            if not place:
                now[i] = worth[i]
                continue
            run = best[i - 1] + _RUN
            if run >= gap_score:
                score, origins[i] = run, i - 1
            else:
                score, origins[i] = gap_score, gap_origin
            if score > _NEVER:
                now[i] = score + worth[i]
        best = now
        came_from.append(origins)
    score = max(best, default=_NEVER)
    if score == _NEVER:
        return None
    positions = [best.index(score)]
    for origins in reversed(came_from[1:]):
        positions.append(origins[positions[-1]])
    name = searched.rpartition("/")[2]
    if wanted in (name, name.rpartition(".")[0]):
        score += _WHOLE_NAME
    return Match(text, tuple(reversed(positions)), score - length / 50)


def _worths(text: str) -> list[int]:
    """What each character is worth by where it stands."""
    name_start = text.rfind("/") + 1
    worths = []
    before = "/"
    for index, character in enumerate(text):
        worth = 1 + (_NAME if index >= name_start else 0)
        if index == name_start:
            worth += _FIRST
        if before == "/":
            worth += _PART
        elif not before.isalnum() or (character.isupper() and before.islower()):
            worth += _WORD
        worths.append(worth)
        before = character
    return worths


def _initials(text: str) -> str:
    """The first characters of all words, folded."""
    return _folded("".join(_WORD_START.findall(text)))


_WORD_START: Final = re.compile(r"(?<![^\W_])[^\W_]|(?<=[a-z])[A-Z]")


def _in_order(query: str) -> re.Pattern[str]:
    """A pattern that never goes back: each character is found at its first place."""
    return re.compile("".join(f"[^{re.escape(c)}]*+{re.escape(c)}" for c in query), re.DOTALL)


def _folded(text: str) -> str:
    """Lower case with as many characters."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)

"""Prompt lookup: where the text has been before, and how it went on there.

Answers repeat their prompts and themselves: code that is rewritten, names, quotations, lists. The
end of the text is looked for in the text itself, and what followed there is a draft that costs
nothing to make, however long it is. How far to trust it is for others to decide: a longer match is
more often right.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

LONGEST: Final = 64
"""Tokens of a match that are counted: longer ones are as good."""
LONG: Final = 8
"""Tokens from which a match is long: where it breaks off, something was changed on the way."""
SHORTEST: Final = 3
"""Tokens of the shortest match that may lie anywhere: two are found everywhere by chance."""
SHORTEST_NEAR: Final = 2
"""Tokens that are enough shortly behind the place where a long match broke off."""
REACH: Final = 64
"""How many tokens that is, and for how many the text may run differently before it goes on."""
CANDIDATES: Final = 64
"""Places with the same tokens that are compared, the latest first: an indent stands everywhere."""

_CHAINS: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Match:
    """The last ``length`` tokens of the text occurred before, and ``start`` is the index of the
    token that followed them then. ``length`` is `LONGEST` at most."""

    length: int
    start: int


class Lookup:
    """Finds the longest end of a growing text that occurred in it before.

    While a match goes on as foretold nothing is searched, because the new end of the text has none
    that is longer than this one and the new token. Searching takes some 10 microseconds, the first
    time some 25 milliseconds for a text of 32,768 tokens, which then takes 1.3 MiB.
    """

    def __init__(self, tokens: Sequence[int]) -> None:
        """``tokens`` are the text so far."""
        self._tokens = list(tokens)
        self._long, self._short = _Places(LONG), _Places(SHORTEST)
        self._match: Match | None = None
        self._is_searched = False
        # Where the last long match broke off, and how many tokens the text had then.
        self._break: tuple[int, int] | None = None

    def extend(self, tokens: Iterable[int]) -> None:
        """The text goes on with ``tokens``."""
        for token in tokens:
            match = self._match
            if match is not None and self._tokens[match.start] == token:
                self._match = Match(min(match.length + 1, LONGEST), match.start + 1)
            else:
                if match is not None and match.length >= LONG:
                    self._break = match.start, len(self._tokens)
                self._match, self._is_searched = None, False
            self._tokens.append(token)

    def match(self) -> Match | None:
        """Where the end of the text was before, None if it is new.

        The longest counts. Of equally long ones it is the one that went on as foretold, else the
        next one behind the place where a long one broke off, else the latest.
        """
        if not self._is_searched:
            self._match, self._is_searched = self._found(), True
        return self._match

    def continuation(self, match: Match, count: int) -> list[int]:
        """The ``count`` tokens that followed ``match``.

        Where that runs into the end of the text it goes round: "1 2 1 2" has its end two tokens
        earlier, and is continued with "1 2 1 2 1 2".
        """
        text, start = self._tokens, match.start
        following = text[start : start + count]
        period = len(text) - start
        while len(following) < count:
            following.append(following[-period])
        return following

    def _found(self) -> Match | None:
        text = self._tokens
        best = self._longest(self._near(), SHORTEST_NEAR, None)
        best = self._longest(self._long.of_the_end(text), LONG, best)
        if best is not None and best.length >= LONG:
            return best
        return self._longest(self._short.of_the_end(text), SHORTEST, best)

    def _longest(self, starts: Iterable[int], least: int, best: Match | None) -> Match | None:
        """The first of the longest matches, ``best`` unless one is longer."""
        text = self._tokens
        end = len(text)
        length = least - 1 if best is None else max(best.length, least - 1)
        for start in starts:
            if length >= min(start, LONGEST):
                continue
            # Most are no longer than the best one, which one look at where it ends can tell.
            if text[start - 1 - length] != text[end - 1 - length]:
                continue
            found, most = 0, min(start, LONGEST)
            while found < most and text[start - 1 - found] == text[end - 1 - found]:
                found += 1
            if found > length:
                length, best = found, Match(found, start)
        return best

    def _near(self) -> Iterator[int]:
        """Where the last token stands shortly behind the place where a long match broke off."""
        text = self._tokens
        if self._break is None:
            return
        place, length = self._break
        if len(text) - length > REACH:
            return
        last, end = text[-1], min(place + REACH, len(text) - 1)
        while place < end:
            try:
                place = text.index(last, place, end) + 1
            except ValueError:
                return
            yield place


class _Places:
    """Where each run of ``size`` tokens was before, as the index behind it.

    Chains from the latest to the earliest, by hash, as in zlib's deflate: runs that share a chain
    are told apart when their tokens are compared.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        # 0 ends a chain: no run ends there.
        self._latest = array("i", [0]) * _CHAINS
        self._earlier = array("i", [0]) * size

    def of_the_end(self, text: Sequence[int]) -> Iterator[int]:
        """Where the run at the end of ``text`` was before, the latest first, `CANDIDATES` at most.

        ``text`` is that of the last time, or longer.
        """
        self._take_in(text)
        place = self._latest[hash(tuple(text[-self._size :])) % _CHAINS]
        for _ in range(CANDIDATES):
            if not place:
                return
            yield place
            place = self._earlier[place]

    def _take_in(self, text: Sequence[int]) -> None:
        """Note all runs but the one at the end, which is not to find itself."""
        latest, earlier, size = self._latest, self._earlier, self._size
        first = len(earlier)
        fresh = text[first - size : -1]
        runs = zip(*(fresh[offset:] for offset in range(size)), strict=False)
        for place, key in enumerate(map(hash, runs), first):
            chain = key % _CHAINS
            earlier.append(latest[chain])
            latest[chain] = place

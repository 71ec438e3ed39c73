"""How likely a drafted token is to be kept: slowly by its place, quickly by how the text goes."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Final

_LOWEST: Final = 0.002
"""No chance is taken to be further from 0 and 1 than this."""
_DOUBT: Final = 2.0
"""Tokens of evidence without which a text is taken to be like all others."""
_SLOW: Final = 48.0
_FAST: Final = 10.0
"""Tokens that the two averages of a text go back."""
_SIGNIFICANT: Final = 2.8
"""Standard errors between the two at which the text has become another one."""
_FADING: Final = 0.985
"""What evidence is still worth a pass later: a text that nothing is drafted for changes unseen."""
_FADED: Final = 4.0
"""Tokens of evidence that stay however long ago they were."""


def logit(chance: float) -> float:
    """log(p / (1 - p)), of a chance that is neither 0 nor 1."""
    if chance < _LOWEST:
        chance = _LOWEST
    elif chance > 1.0 - _LOWEST:
        chance = 1.0 - _LOWEST
    return math.log(chance / (1.0 - chance))


def expit(value: float) -> float:
    """The chance that has this logit."""
    return 1.0 / (1.0 + math.exp(-value))


def _after(stay: float, times: int) -> tuple[float, float]:
    """What is left of a sum that fades by ``stay`` with each token after so many of them, and what
    they add to it if each adds 1."""
    if times == 1:
        return stay, 1.0
    left = stay**times
    return left, (1.0 - left) / (1.0 - stay)


class Trend:
    """How much better or worse recent tokens fared than was expected of them.

    Two averages: one that is steady, and one that is quick to notice another kind of text. When
    they are further apart than chance explains, the steady one begins anew from the quick one.
    """

    def __init__(self, memory: float = _SLOW) -> None:
        self._memory = memory
        self._count = self._kept = self._expected = 0.0
        self._fast_count = self._fast_kept = self._fast_expected = self._fast_squares = 0.0
        self._shift: float | None = 0.0

    def learn(self, expected: float, kept: bool, times: int = 1) -> None:
        """A token that was ``expected`` to be kept with this chance was kept, or was not; so many
        of them in a row."""
        stay, more = _after(1.0 - 1.0 / self._memory, times)
        self._count = self._count * stay + more
        self._kept = self._kept * stay + kept * more
        self._expected = self._expected * stay + expected * more
        stay, more = _after(1.0 - 1.0 / _FAST, times)
        self._fast_count = self._fast_count * stay + more
        self._fast_kept = self._fast_kept * stay + kept * more
        self._fast_expected = self._fast_expected * stay + expected * more
        stay, more = _after((1.0 - 1.0 / _FAST) ** 2, times)
        self._fast_squares = self._fast_squares * stay + more
        if self._has_turned():
            self._count = self._fast_count
            self._kept = self._fast_kept
            self._expected = self._fast_expected
        self._shift = None

    def _has_turned(self) -> bool:
        if self._count < 1.5 * self._fast_count or self._fast_count < 4.0:
            return False
        slow = (self._kept + 0.5) / (self._count + 1.0)
        # Of what either average expected, in case other tokens were due now.
        slow += (self._fast_expected / self._fast_count) - (self._expected / self._count)
        slow = min(max(slow, 0.02), 0.98)
        # So many tokens of equal weight would say as much.
        tokens = self._fast_count**2 / self._fast_squares
        error = math.sqrt(slow * (1.0 - slow) / tokens)
        return abs(self._fast_kept / self._fast_count - slow) > _SIGNIFICANT * error

    def fade(self) -> None:
        """A pass went by that taught nothing."""
        if self._count > _FADED:
            self._count *= _FADING
            self._kept *= _FADING
            self._expected *= _FADING
            self._shift = None

    @property
    def shift(self) -> float:
        """What to add to the logit of an expected chance."""
        if self._shift is None:
            expected = self._expected / self._count
            seen = (self._kept + _DOUBT * expected) / (self._count + _DOUBT)
            self._shift = logit(seen) - logit(expected)
        return self._shift


class Rates:
    """Shares kept by place (in the draft, by confidence, by length of a match), over many texts.

    Places of which little is known go along with the others.
    """

    _WEIGHT: Final = 8.0
    _MEMORY: Final = 600.0
    _OFTEN: Final = 16

    def __init__(self, beliefs: Sequence[float]) -> None:
        """``beliefs`` are the shares to begin with."""
        self._beliefs = list(beliefs)
        self._believed = [logit(belief) for belief in beliefs]
        self._counts = [0.0] * len(self._beliefs)
        self._kept = [0.0] * len(self._beliefs)
        self._shift = 0.0
        self._learned = 0
        self._logits = self._believed[:]

    def learn(self, place: int, kept: bool, times: int = 1) -> None:
        """A token at a place was kept, or was not; so many of them."""
        if self._counts[place] >= self._MEMORY:
            self._counts[place] *= 0.5
            self._kept[place] *= 0.5
        self._counts[place] += times
        self._kept[place] += kept * times
        before = self._learned
        self._learned += times
        # The places of which little is known need not follow at once.
        if before < self._OFTEN or before // self._OFTEN < self._learned // self._OFTEN:
            self._work_out()
        else:
            self._logits[place] = self._logit(place)

    def logits(self) -> list[float]:
        """By place: the logits of the shares. Not to be changed."""
        return self._logits

    def _work_out(self) -> None:
        tokens = sum(self._counts)
        if tokens:
            believed = sum(map(operator.mul, self._counts, self._beliefs)) / tokens
            seen = (sum(self._kept) + _DOUBT * believed) / (tokens + _DOUBT)
            self._shift = logit(seen) - logit(believed)
        self._logits = [self._logit(place) for place in range(len(self._counts))]

    def _logit(self, place: int) -> float:
        believed = expit(self._believed[place] + self._shift)
        kept = self._kept[place] + self._WEIGHT * believed
        return logit(kept / (self._counts[place] + self._WEIGHT))

    @property
    def counts(self) -> list[float]:
        """By place: tokens seen, the older ones counted less."""
        return self._counts

    def as_plain(self) -> list[list[float]]:
        """For a file; `restore` takes it."""
        return [[round(k, 2), round(n, 2)] for k, n in zip(self._kept, self._counts, strict=True)]

    def restore(self, plain: Sequence[Sequence[float]]) -> None:
        """Take over what an earlier run learned. Raises ValueError, TypeError for anything else."""
        for place, (kept, count) in enumerate(plain[: len(self._counts)]):
            if not 0.0 <= kept <= count or not math.isfinite(count):
                raise ValueError(f"{kept} of {count} kept")
            # Other texts come.
            share = min(1.0, 100.0 / count) if count else 0.0
            self._kept[place], self._counts[place] = kept * share, count * share
        self._work_out()

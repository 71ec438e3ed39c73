"""A safety net: is decoding with drafts really faster than without, by the clock alone?

Everything else here works with models of cost and chance, and a model can be wrong. This compares
what passes with drafts yielded a second with what passes without them took, and forbids drafts for
a while when they lost; each time for longer.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from operator import mul
from typing import Final

from gemma_local.engine.pace.probing import Probing

_WINDOW: Final = 48
_LEAST: Final = 24
"""Passes with drafts that are compared, at most and at least."""
_PLAIN: Final = 16
_LEAST_PLAIN: Final = 2
_LOSS: Final = 0.98
"""Share of the plain speed below which drafts have lost."""
_SURE: Final = 1.5
"""Standard errors that are allowed for."""
_CLIP: Final = 3.0
"""A pass counts for at most so many times the usual seconds."""
_EVERY: Final = 8
"""Passes between two comparisons."""
_RECENT: Final = 12
"""Passes with drafts after which plain ones are too long ago to be compared with."""
_FIRST_PENALTY: Final = 24
_LONGEST_PENALTY: Final = 768
_CLEAR: Final = 1.5
"""Gain at which a look at plain decoding is left out: it could not have doubled unnoticed."""
_FIRST_LOOK: Final = 48
_LONGEST_LOOK: Final = 768
"""Passes between looks at what plain decoding takes now."""
_LOOK: Final = 2
"""Passes that such a look takes."""
_OWN: Final = 4
"""Passes with drafts that a text must have had itself before it is judged by those of others."""


class Watch:
    """Windows of measured passes, and what follows from them."""

    def __init__(self) -> None:
        self._drafting: deque[tuple[int, float]] = deque(maxlen=_WINDOW)
        self._plain: deque[float] = deque(maxlen=_PLAIN)
        self._since_plain = 0
        self._own = 0
        self._penalty = _FIRST_PENALTY
        self._forbidden = 0
        self._looks = Probing(_FIRST_LOOK, _LONGEST_LOOK)
        self._looking = 0

    def begin(self) -> None:
        """Another text begins: the others tell what passes take, but not how this one goes."""
        self._own = 0

    def observe(self, is_drafting: bool, tokens: int, seconds: float) -> None:
        """A step, with drafts or without, took so long and yielded so many tokens."""
        if not seconds > 0.0 or not math.isfinite(seconds):
            return
        if not is_drafting:
            self._plain.append(seconds)
            self._since_plain = 0
            return
        self._since_plain += 1
        self._own += 1
        self._drafting.append((tokens, seconds))
        if len(self._drafting) < _LEAST or self._since_plain % _EVERY:
            return
        if not self._has_lost():
            if len(self._drafting) == _WINDOW:
                self._penalty = max(_FIRST_PENALTY, self._penalty - _EVERY)
        elif self._since_plain > _RECENT:
            # Perhaps it is only that everything is slower now.
            self._plain.clear()
            self._looking = _LEAST_PLAIN
        else:
            self._forbidden = self._penalty
            self._penalty = min(self._penalty * 3, _LONGEST_PENALTY)
            self._drafting.clear()

    def _gain(self) -> float:
        """Speed with drafts over that without, 0 where that cannot be told yet."""
        if len(self._plain) < _LEAST_PLAIN or len(self._drafting) < _LEAST:
            return 0.0
        return self._compared(_WINDOW)[0]

    def _has_lost(self) -> bool:
        if len(self._plain) < _LEAST_PLAIN:
            return False
        gain, error = self._compared(_WINDOW)
        # Chance alone must not forbid what pays on average.
        if gain * (1.0 + _SURE * error) >= _LOSS or self._own < _OWN:
            return False
        return self._own >= _WINDOW or self._compared(self._own)[0] < _LOSS

    def _compared(self, last: int) -> tuple[float, float]:
        """Speed with drafts over that without, and its standard error in units of itself.

        Of the ``last`` passes with drafts, at most.
        """
        plain, plain_error = _mean_and_error(self._plain)
        drafting = list(self._drafting)[-last:]
        spent, spent_error = _mean_and_error([seconds for _, seconds in drafting])
        yields, yields_error = _mean_and_error([tokens for tokens, _ in drafting])
        return yields / spent * plain, math.hypot(plain_error, spent_error, yields_error)

    @property
    def forbids(self) -> bool:
        """Whether drafts are forbidden now."""
        return self._forbidden > 0

    def allows(self, *, wants_draft: bool) -> bool:
        """Call once a step: whether it may draft if it wants to."""
        if self._forbidden:
            self._forbidden -= 1
            return False
        if self._looking:
            self._looking -= 1
            return False
        if not wants_draft:
            self._looks.restart()
        elif self._looks.is_due():
            self._looks.failed()
            if self._gain() > _CLEAR:
                return True
            self._looking = _LOOK - 1
            return False
        return True


def _mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """The mean without hiccups, and its standard error in units of itself."""
    most = _CLIP * sorted(values)[len(values) // 2]
    if max(values) > most:
        values = [min(value, most) for value in values]
    count, total = len(values), sum(values)
    mean = total / count
    variance = max(sum(map(mul, values, values)) - total * mean, 0.0) / (count - 1)
    return mean, math.sqrt(variance / count) / mean

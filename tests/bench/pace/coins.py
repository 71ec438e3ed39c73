"""Which drafted tokens are right: decided in advance, for each place in a text."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

SWITCHING: Final = (0.95, 0.2, 0.8, 0.0, 0.5, 0.95)
"""Acceptance in the parts of a text that changes its kind."""
_SPREAD: Final = 3.0
"""How far a drafter's confidence is from its mean: the sum of the parameters of a beta
distribution."""
_NOISE: Final = 0.5
"""Standard deviation of what it states from what it should state, in logits."""


@dataclass(frozen=True)
class Coins:
    """``right[i]``: a draft that reaches place ``i`` of the text has the right token there;
    ``stated[i]`` is the probability that the drafter states for it, whatever the token."""

    right: tuple[bool, ...]
    stated: tuple[float, ...]

    def after(self, place: int) -> Coins:
        """Those of the rest of the text, from a place on."""
        return Coins(self.right[place:], self.stated[place:])

    def accepted(self, place: int, length: int) -> int:
        """Tokens kept of a draft of that length whose first token is at ``place``."""
        end = min(place + length, len(self.right))
        return next((i for i in range(place, end) if not self.right[i]), end) - place

    def passes(self, draft: int) -> int:
        """Passes over the whole text at a fixed draft length; reading the prompt gave its first
        token."""
        place, count = 1, 0
        while place < len(self.right):
            # A pass emits one token more than it accepts.
            length = min(draft, len(self.right) - place - 1)
            place += self.accepted(place, length) + 1
            count += 1
        return count


def toss(acceptance: Sequence[float], part: int, seed: int, *, informs: bool = True) -> Coins:
    """Coins for a text of ``part`` tokens at each acceptance, place by place on their own.

    ``informs``: the drafter is surer of what is right, though not exactly as sure as it should be;
    else what it states has nothing to do with it.
    """
    rng = random.Random(f"{acceptance} {part} {seed}")
    right, stated = [], []
    for mean in acceptance:
        for _ in range(part):
            sure = _confidence(rng, mean)
            right.append(rng.random() < (sure if informs else mean))
            if not informs:
                sure = _confidence(rng, 0.7)
            noisy = math.log(sure / (1 - sure)) + rng.gauss(0, _NOISE)
            stated.append(1 / (1 + math.exp(-noisy)))
    return Coins(tuple(right), tuple(stated))


def _confidence(rng: random.Random, mean: float) -> float:
    """Neither 0 nor 1, and ``mean`` on average, but for that."""
    mean = min(max(mean, 1e-6), 1 - 1e-6)
    return min(max(rng.betavariate(_SPREAD * mean, _SPREAD * (1 - mean)), 1e-6), 1 - 1e-6)

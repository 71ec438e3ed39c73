"""What drafts of some length gain and cost, in seconds.

A drafted token that is kept saves what a token takes at the best speed there is: that is its
``worth``. Checking it takes one more row of the pass, and making it takes the drafter. The best
length has the largest sum of (chance that all up to there are kept) * worth, less the cost; at the
best speed this maximises tokens over time, as Dinkelbach's method for ratios has it.

A ``curve`` has, for each place of a draft, the chance that all tokens up to there are kept.
Sequences that share a pass have the same number of rows each (`engine.passes`), so their curves are
added up and weighed as one. ``extra`` are seconds that the pass takes longer at each length, from 0
on; ``per_token`` is a round of the drafter, for all sequences together.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, zip_longest
from operator import mul

Curve = list[float]


def curve(chances: Sequence[float]) -> Curve:
    """From chances given that those before are kept, to chances that all up to there are."""
    return list(accumulate(chances, mul))


def together(curves: Sequence[Curve]) -> Curve:
    """Expected tokens of all sequences at each place."""
    if len(curves) == 1:
        return curves[0]
    return [sum(chances) for chances in zip_longest(*curves, fillvalue=0.0)]


def least_seconds_per_token(
    drafted: Curve, base: float, extra: Sequence[float], per_token: float, tokens: float
) -> float:
    """What a token takes when drafting goes as far as is best on average.

    ``base`` is a pass without drafts, which yields ``tokens``.
    """
    best, making = base / tokens, 0.0
    for length, chance in enumerate(drafted, 1):
        tokens += chance
        making += per_token
        best = min(best, (base + extra[length] + making) / tokens)
    return best


def best_length(
    drafted: Curve, extra: Sequence[float], worth: float, per_token: float = 0.0
) -> tuple[int, float]:
    """The most profitable length, and what it gains over no draft."""
    best, gain, value = 0, 0.0, 0.0
    for length, chance in enumerate(drafted, 1):
        value += chance * worth - per_token
        if value - extra[length] > gain:
            best, gain = length, value - extra[length]
    return best, gain

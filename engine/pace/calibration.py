"""What the drafter's own confidence says about its tokens: does 0.6 mean 6 of 10 here?

Drafters are sure of themselves in their own way, and quantised targets agree in theirs. So the
stated probability only sorts tokens into classes, and how many of a class are kept is counted.
Whether that predicts better than a token's place in the draft alone is watched as well: where it
does not, nobody need ask.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import Final

from gemma_local.engine.pace.chances import Rates

_EDGES: Final = (0.15, 0.3, 0.5, 0.7, 0.85, 0.95, 0.99)
_BELIEFS: Final = (0.15, 0.25, 0.4, 0.55, 0.68, 0.8, 0.88, 0.94)
_USEFUL: Final = 0.004
"""Nats a token by which predictions must be better to be worth asking for."""
_FIRST: Final = 128
"""Tokens that are asked for before anything is decided."""
_SOMETIMES: Final = 8
"""Every so many passes it is asked all the same: another text may be different."""
_MEMORY: Final = 1.0 / 128
_FORGETTING: Final = 0.96
"""What a class that was met a token ago still counts."""
_USUAL: Final = 3.0
"""Tokens that all texts together count as much as."""


class Recent:
    """Classes of the first tokens that were lately drafted for one text."""

    def __init__(self) -> None:
        self.counts = [0.0] * len(_BELIEFS)

    def add(self, confidence: float) -> None:
        """The drafter stated this of a first token."""
        self.counts = [count * _FORGETTING for count in self.counts]
        self.counts[bisect_right(_EDGES, confidence)] += 1.0


class Calibration:
    """Classes of stated probabilities, with what became of them."""

    def __init__(self) -> None:
        self.rates = Rates(_BELIEFS)
        self._stated = [0.0] * len(_BELIEFS)
        self._kept = [0] * len(_BELIEFS)
        self._tokens = [0] * len(_BELIEFS)
        self._gain = 0.0
        self._seen = 0
        self._passes = 0

    def place(self, confidence: float) -> int:
        """The class of a stated probability."""
        return bisect_right(_EDGES, confidence)

    def learn(self, confidence: float, kept: bool, by_confidence: float, by_place: float) -> None:
        """A token was kept or not, for which the two ways predicted these chances."""
        place = self.place(confidence)
        self.rates.learn(place, kept)
        self._stated[place] += confidence
        self._kept[place] += kept
        self._tokens[place] += 1
        self._seen += 1
        better = math.log(by_confidence if kept else 1.0 - by_confidence) - math.log(
            by_place if kept else 1.0 - by_place
        )
        self._gain += (better - self._gain) * max(_MEMORY, 1.0 / (self._seen + 16))

    @property
    def is_useful(self) -> bool:
        """Whether the confidence tells more than the place does."""
        return self._gain > _USEFUL

    def wanted(self) -> bool:
        """Whether to ask for it in the pass that is beginning."""
        self._passes += 1
        return self.is_useful or self._seen < _FIRST or self._passes % _SOMETIMES == 0

    def rows(self) -> tuple[tuple[float, float, int], ...]:
        """(mean stated probability, share kept, tokens) of each class that was met."""
        found = zip(self._stated, self._kept, self._tokens, strict=True)
        return tuple((stated / n, kept / n, n) for stated, kept, n in found if n)

    def shares(self, recent: Recent) -> list[float]:
        """How often each class comes in a text, of first tokens: as far as little is known of it,
        as in all texts."""
        counts = self.rates.counts
        total = sum(counts) or 1.0
        known = sum(recent.counts) + _USUAL
        pairs = zip(recent.counts, counts, strict=True)
        return [(here + _USUAL * usual / total) / known for here, usual in pairs]

    def as_plain(self) -> dict[str, object]:
        """For a file; `restore` takes it."""
        return {"rates": self.rates.as_plain(), "gain": self._gain, "seen": min(self._seen, 512)}

    def restore(self, plain: dict[str, object]) -> None:
        """Take over what an earlier run learned. Raises ValueError, TypeError, KeyError."""
        gain, seen = float(str(plain["gain"])), int(str(plain["seen"]))
        if not math.isfinite(gain):
            raise ValueError("no number")
        self.rates.restore(plain["rates"])  # type: ignore[arg-type]
        self._gain, self._seen = gain, seen

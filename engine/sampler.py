"""From one row of logits to the next token.

The order of the filters is llama.cpp's: bias and penalties, top-k, top-p, min-p, temperature, draw.
A draw is a pure function of the seed and of how many tokens were emitted before, so the same seed
gives the same text whatever the draft length, and an interrupted generation goes on as it would
have. Work is done on views; only the candidates that survive top-k are ever copied.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from gemma_local.engine.messages import Sampling
from gemma_local.engine.runtime.context import Floats

_GROUP: Final = 128
_MASK64: Final = (1 << 64) - 1
_SECOND_STREAM: Final = 0x6A09E667F3BCC908
"""Makes another seed of a seed, for numbers that do not depend on its own."""


class NotANumber(ArithmeticError):
    """The logits of a row are not numbers."""


class Constraint(Protocol):
    """What may come next, for instance by a grammar."""

    def allows(self, token: int) -> bool:
        """Whether a token may come next."""
        ...

    def restrict(self, row: Floats) -> None:
        """Set the logits of tokens that may not come next to -inf, in place."""
        ...

    def accept(self, token: int) -> None:
        """Move on past an emitted token."""
        ...


class Sampler:
    """Chooses tokens for one sequence. Keeps no state but the counts that penalties need."""

    def __init__(
        self,
        sampling: Sampling,
        banned: NDArray[np.int64] | None = None,
        prompt: Sequence[int] = (),
        constraint: Constraint | None = None,
    ) -> None:
        """``banned`` tokens are never chosen; ``prompt`` counts for the penalties' window."""
        self.sampling = sampling
        self._constraint = constraint
        self.seed = secrets.randbits(63) if sampling.seed is None else sampling.seed
        self._banned = banned if banned is not None and banned.size else None
        bias = sampling.logit_bias
        self._bias_ids = np.fromiter(bias.keys(), np.int64, len(bias)) if bias else None
        self._bias = np.fromiter(bias.values(), np.float32, len(bias)) if bias else None
        self._penalises = (
            sampling.repeat_penalty != 1.0
            or sampling.frequency_penalty != 0.0
            or sampling.presence_penalty != 0.0
        )
        window = max(sampling.penalty_window, 0) if self._penalises else 0
        self._window = window
        self._recent: list[int] = list(prompt[-window:]) if window else []

    def choose(self, row: Floats, index: int) -> int:
        """The token for a row, shape (n_vocab,), which is changed in place by bias and penalties.

        ``index`` is the number of tokens emitted before this one. Raises NotANumber.

        Under a constraint the choice is free first, because to test one token is cheap and to test
        a whole vocabulary is not; only if that token may not come is there a second draw among
        those that may. The second number is independent of the first, so that, filters aside, the
        probabilities are exactly those of the allowed tokens: p + (1 - P) p / P = p / P, with P
        the sum of theirs.
        """
        self._adjust(row)
        token = self._draw(row, self.seed, index)
        if self._constraint is None or self._constraint.allows(token):
            return token
        self._constraint.restrict(row)
        return self._draw(row, self.seed ^ _SECOND_STREAM, index)

    def _draw(self, row: Floats, seed: int, index: int) -> int:
        if self.sampling.temperature <= 0.0:
            best = int(row.argmax())
            if not math.isfinite(row[best]):
                raise NotANumber
            return best
        ids, logits = self._candidates(row)
        weights = np.exp(
            (logits - logits.max()) / np.float32(self.sampling.temperature), dtype=float
        )
        cumulative = weights.cumsum()
        at = int(np.searchsorted(cumulative, uniform(seed, index) * cumulative[-1], "right"))
        return int(ids[min(at, len(ids) - 1)])

    def tolerates(self, row: Floats, token: int) -> bool:
        """Whether lenience accepts a drafted ``token`` that ``choose`` did not choose."""
        lenience = self.sampling.lenience
        if lenience <= 0.0 or not (self._constraint is None or self._constraint.allows(token)):
            return False
        floor = math.log(max(1.0 - lenience, 1e-30))
        return float(row[token]) - float(row.max()) >= floor

    def accept(self, token: int) -> None:
        """Tell penalties and constraint that a token was emitted."""
        if self._constraint is not None:
            self._constraint.accept(token)
        if self._window:
            self._recent.append(token)
            del self._recent[: -self._window]

    def _adjust(self, row: Floats) -> None:
        if self._banned is not None:
            row[self._banned] = -np.inf
        if self._bias_ids is not None and self._bias is not None:
            row[self._bias_ids] += self._bias
        if not self._penalises or not self._recent:
            return
        # As in llama.cpp: the repeat penalty divides positive and multiplies negative logits.
        sampling = self.sampling
        ids, counts = np.unique(np.array(self._recent, np.int64), return_counts=True)
        logits = row[ids]
        repeat = np.float32(sampling.repeat_penalty)
        logits = np.where(logits > 0, logits / repeat, logits * repeat)
        logits -= counts.astype(np.float32) * np.float32(sampling.frequency_penalty)
        row[ids] = logits - np.float32(sampling.presence_penalty)

    def _candidates(self, row: Floats) -> tuple[NDArray[np.int64], Floats]:
        """Ids and logits after the filters, best first; equal logits in order of id."""
        sampling = self.sampling
        best = row.max()
        if not math.isfinite(best):
            raise NotANumber
        if 0 < sampling.top_k < row.size:
            ids, logits = _best(row, sampling.top_k)
            total = None
        elif sampling.top_p < 1.0 or sampling.min_p > 0.0:
            total = float(np.exp(row - best).sum(dtype=float))
            ids, logits = self._nucleus(row, total)
        else:
            # Nothing to filter, so nothing to sort.
            return np.arange(row.size), row
        if sampling.top_p < 1.0:
            cumulative = np.exp(logits - best, dtype=float).cumsum()
            mass = cumulative[-1] if total is None else total
            # The token that crosses the line belongs to the nucleus.
            keep = int(np.searchsorted(cumulative, sampling.top_p * mass, "left")) + 1
            ids, logits = ids[:keep], logits[:keep]
        if sampling.min_p > 0.0:
            keep = max(1, int((logits >= best + np.float32(math.log(sampling.min_p))).sum()))
            ids, logits = ids[:keep], logits[:keep]
        return ids, logits

    def _nucleus(self, row: Floats, total: float) -> tuple[NDArray[np.int64], Floats]:
        """Enough of the best tokens for top-p and min-p to cut in: widened until they reach."""
        best = float(row.max())
        width = 256
        while True:
            ids, logits = _best(row, min(width, row.size))
            covered = float(np.exp(logits - best, dtype=float).sum()) >= self.sampling.top_p * total
            min_p = self.sampling.min_p
            below = min_p > 0.0 and float(logits[-1]) - best < math.log(min_p)
            if covered or below or width >= row.size:
                return ids, logits
            width *= 8


def _best(row: Floats, k: int) -> tuple[NDArray[np.int64], Floats]:
    """The ``k`` largest entries: ids and values, best first, equal ones in order of id."""
    ids = np.flatnonzero(row >= _kth_largest_bound(row, k))
    logits = row[ids]
    order = np.argsort(-logits, kind="stable")[:k]
    return ids[order], logits[order]


def _kth_largest_bound(row: Floats, k: int) -> np.float32:
    """A value that at least ``k`` entries reach, close to the k-th largest.

    Split the row into groups: the k-th largest of the groups' maxima is such a value, because k
    groups have an entry that large. One pass over the row and a partition of n/128 maxima instead
    of a partition of all n. Groups are columns, because numpy reduces those four times faster.
    """
    columns = row.size // _GROUP
    if columns < k:
        return np.float32(np.partition(row, row.size - k)[row.size - k])
    maxima = row[: columns * _GROUP].reshape(_GROUP, columns).max(axis=0)
    return np.float32(np.partition(maxima, columns - k)[columns - k])


def uniform(seed: int, index: int) -> float:
    """The ``index``-th number in [0, 1) of a seed's stream: SplitMix64 (Steele, Lea, Flood 2014).

    Counter-based, so any number of the stream is had without those before it.
    """
    z = (_mix(seed & _MASK64) + (index + 1) * 0x9E3779B97F4A7C15) & _MASK64
    return (_mix(z) >> 11) * 2.0**-53


def _mix(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK64
    return z ^ (z >> 31)

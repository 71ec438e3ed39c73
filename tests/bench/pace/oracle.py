"""The real drafter, for what it costs, with tokens that are right where that was decided."""

from __future__ import annotations

from collections.abc import Sequence as Tokens

from gemma_local.engine.drafters import Drafter, Guide
from gemma_local.engine.sequence import Sequence
from tests.bench.pace.coins import Coins


class Oracle:
    """Takes a drafter's place. While it knows a text it drafts that, or something else, for one
    sequence, and is as sure of it as the coins say."""

    def __init__(self, drafter: Drafter) -> None:
        self._drafter = drafter
        self._text: Tokens[int] = ()
        self._coins: Coins | None = None

    def know(self, text: Tokens[int], coins: Coins) -> None:
        """From now on the sequence says ``text``."""
        self._text, self._coins = text, coins

    def forget(self) -> None:
        """Draft what the drafter drafts."""
        self._coins = None

    @property
    def llama_seconds(self) -> float:
        return self._drafter.llama_seconds

    def propose(
        self, sequences: list[Sequence], lengths: list[int], guide: Guide | None = None
    ) -> list[list[int]]:
        """As many tokens as the drafter makes."""
        if self._coins is None:
            return self._drafter.propose(sequences, lengths, guide)
        [sequence] = sequences
        first = sequence.emitted + (len(guide.begun(0)) if guide is not None else 0)
        told = _Told(guide, self._coins, first) if guide is not None else None
        [draft] = self._drafter.propose(sequences, lengths, told)
        return [[self._token(first + n) for n in range(len(draft))]]

    def _token(self, place: int) -> int:
        assert self._coins is not None
        right = self._text[place]
        if self._coins.right[place]:
            return right
        return right - 1 if right else 1


class _Told:
    """A guide that hears another confidence than the drafter's."""

    def __init__(self, guide: Guide, coins: Coins, place: int) -> None:
        self._guide = guide
        self._coins = coins
        self._place = place

    @property
    def wants_confidence(self) -> bool:
        return self._guide.wants_confidence

    def begun(self, index: int) -> list[int]:
        return self._guide.begun(index)

    def goes_on(self, index: int, confidence: float) -> bool:
        stated = self._coins.stated[self._place]
        self._place += 1
        return self._guide.goes_on(index, stated)

"""Where drafted tokens come from. A drafter proposes; only the target decides."""

from __future__ import annotations

from typing import Protocol

from gemma_local.engine.sequence import Sequence


class Guide(Protocol):
    """What a drafter asks while it drafts; `engine.pace.step` answers."""

    @property
    def wants_confidence(self) -> bool:
        """Whether the drafter should say how likely it takes its tokens to be, which then decides
        how many it makes."""
        ...

    def begun(self, index: int) -> list[int]:
        """Tokens with which the draft of a sequence begins: the drafter goes on after them."""
        ...

    def goes_on(self, index: int, confidence: float) -> bool:
        """Whether another token is worth making for a sequence, now that one has been made.

        Asked only where confidence is wanted: the probability that the drafter states for it, 0
        to 1.
        """
        ...


class Drafter(Protocol):
    """A source of drafts."""

    @property
    def llama_seconds(self) -> float:
        """Time spent inside llama.cpp so far."""
        ...

    def propose(
        self, sequences: list[Sequence], lengths: list[int], guide: Guide | None = None
    ) -> list[list[int]]:
        """At most ``lengths[i]`` tokens that may follow ``sequences[i].last`` and what the guide
        has begun, for each of them; fewer where the guide has it so."""
        ...


class NoDrafter:
    """Plain decoding, but for what is found in the text."""

    llama_seconds = 0.0

    def propose(
        self, sequences: list[Sequence], lengths: list[int], guide: Guide | None = None
    ) -> list[list[int]]:
        """Nothing, for each sequence."""
        return [[] for _ in sequences]

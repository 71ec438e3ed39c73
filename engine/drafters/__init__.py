"""Where drafted tokens come from. A drafter proposes; only the target decides."""

from __future__ import annotations

from typing import Protocol

from gemma_local.engine.sequence import Sequence


class Drafter(Protocol):
    """A source of drafts."""

    @property
    def llama_seconds(self) -> float:
        """Time spent inside llama.cpp so far."""
        ...

    def propose(self, sequences: list[Sequence], lengths: list[int]) -> list[list[int]]:
        """At most ``lengths[i]`` tokens that may follow ``sequences[i].last``, for each of them."""
        ...


class NoDrafter:
    """Plain decoding."""

    llama_seconds = 0.0

    def propose(self, sequences: list[Sequence], lengths: list[int]) -> list[list[int]]:
        """Nothing, for each sequence."""
        return [[] for _ in sequences]

"""Counts and clocks of one request."""

from __future__ import annotations

from dataclasses import dataclass, field

from gemma_local.engine.messages import DRAFT_MAX, Tally


@dataclass(slots=True)
class Meter:
    """Adds up what a request costs and yields; ``tally`` is the fact sheet at any moment."""

    prompt_tokens: int = 0
    reused_tokens: int = 0
    prefilled_tokens: int = 0
    prefill_seconds: float = 0.0
    decode_seconds: float = 0.0
    draft_seconds: float = 0.0
    verify_seconds: float = 0.0
    llama_seconds: float = 0.0
    passes: int = 0
    decoded_tokens: int = 0
    drafted: list[int] = field(default_factory=lambda: [0] * DRAFT_MAX)
    accepted: list[int] = field(default_factory=lambda: [0] * DRAFT_MAX)

    def count_pass(self, drafted: int, accepted: int, emitted: int) -> None:
        """One pass of the target: ``drafted`` tokens checked, ``accepted`` of them kept."""
        self.passes += 1
        self.decoded_tokens += emitted
        for position in range(drafted):
            self.drafted[position] += 1
        for position in range(accepted):
            self.accepted[position] += 1

    def tally(self, emitted_tokens: int) -> Tally:
        positions = next((n for n in range(DRAFT_MAX, 0, -1) if self.drafted[n - 1]), 0)
        return Tally(
            prompt_tokens=self.prompt_tokens,
            reused_tokens=self.reused_tokens,
            prefilled_tokens=self.prefilled_tokens,
            emitted_tokens=emitted_tokens,
            prefill_seconds=self.prefill_seconds,
            decode_seconds=self.decode_seconds,
            draft_seconds=self.draft_seconds,
            verify_seconds=self.verify_seconds,
            llama_seconds=self.llama_seconds,
            passes=self.passes,
            decoded_tokens=self.decoded_tokens,
            drafted=sum(self.drafted),
            accepted=sum(self.accepted),
            drafted_by_position=tuple(self.drafted[:positions]),
            accepted_by_position=tuple(self.accepted[:positions]),
        )

"""Counts and clocks of one request."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from gemma_local.engine.commands import LOOKUP_MAX
from gemma_local.engine.messages import PaceTally, SourceTally, Tally

MTP: Final = "mtp"
LOOKUP: Final = "lookup"
"""The names of sources in tallies."""


@dataclass(slots=True)
class SourceMeter:
    """What the drafts of one source came to; positions are those in the whole draft."""

    drafts: int = 0
    seconds: float = 0.0
    drafted: list[int] = field(default_factory=lambda: [0] * LOOKUP_MAX)
    accepted: list[int] = field(default_factory=lambda: [0] * LOOKUP_MAX)

    def count(self, first: int, end: int, accepted: int) -> None:
        """A verified draft had the source's tokens from ``first`` to ``end``, and ``accepted`` of
        all its tokens were kept."""
        if first >= end:
            return
        self.drafts += 1
        for position in range(first, end):
            self.drafted[position] += 1
        for position in range(first, min(accepted, end)):
            self.accepted[position] += 1

    def tally(self, name: str) -> SourceTally:
        places = _places(self.drafted)
        return SourceTally(
            name=name,
            drafts=self.drafts,
            drafted=sum(self.drafted),
            accepted=sum(self.accepted),
            drafted_by_position=tuple(self.drafted[:places]),
            accepted_by_position=tuple(self.accepted[:places]),
            seconds=self.seconds,
        )


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
    plain_tokens: int = 0
    plain_seconds: float = 0.0
    mtp: SourceMeter = field(default_factory=SourceMeter)
    lookup: SourceMeter = field(default_factory=SourceMeter)

    def count_pass(self, drafted: int, accepted: int, emitted: int, found: int = 0) -> None:
        """One pass of the target: ``drafted`` tokens checked, ``accepted`` of them kept. The first
        ``found`` of the draft came from the text."""
        self.passes += 1
        self.decoded_tokens += emitted
        self.lookup.count(0, min(found, drafted), accepted)
        self.mtp.count(found, drafted, accepted)

    def count_plain(self, tokens: int, pass_seconds: float | None, waited: float) -> None:
        """A step brought ``tokens``: without drafts, as many steps that take ``pass_seconds`` each,
        None if nobody knows. ``waited`` was spent on others before it, and would have been then."""
        if pass_seconds is not None:
            self.plain_tokens += tokens
            self.plain_seconds += waited + tokens * pass_seconds

    @property
    def plain_speed(self) -> float | None:
        """Tokens a second without drafts, as far as it is known."""
        return self.plain_tokens / self.plain_seconds if self.plain_tokens else None

    def tally(self, emitted_tokens: int, pace: PaceTally | None = None) -> Tally:
        drafted = [a + b for a, b in zip(self.mtp.drafted, self.lookup.drafted, strict=True)]
        accepted = [a + b for a, b in zip(self.mtp.accepted, self.lookup.accepted, strict=True)]
        places = _places(drafted)
        named = ((MTP, self.mtp), (LOOKUP, self.lookup))
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
            drafted=sum(drafted),
            accepted=sum(accepted),
            drafted_by_position=tuple(drafted[:places]),
            accepted_by_position=tuple(accepted[:places]),
            sources=tuple(s.tally(name) for name, s in named if s.drafts or s.seconds > 0.0),
            pace=pace,
        )


def _places(counts: list[int]) -> int:
    """How many positions were ever drafted."""
    return next((n for n in range(LOOKUP_MAX, 0, -1) if counts[n - 1]), 0)

"""What a status line shows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from gemma_local.app.agent.consent import Mode
    from gemma_local.app.context_window import ContextUse
    from gemma_local.app.plain_speed import Gain
    from gemma_local.app.speed_log import Reading, SpeedLog
    from gemma_local.engine.messages import Loading

PairState = Literal["none", "loading", "ready", "no drafter", "off", "down"]
"""No model yet; being loaded; with its drafter; without one; drafting switched off; the engine's
process has ended."""

COURSE: Final = 12
"""Steps of the course of a speed that are shown, of a second each."""


@dataclass(frozen=True, slots=True)
class Status:
    """Everything at one moment. Speeds are in tokens a second, shares from 0 to 1, counts in
    tokens; None is what cannot be told yet.

    ``model`` is its short name. While ``is_decoding`` the measurements are those of the answer that
    is coming, else those of the last one. ``note`` is something that goes on besides, such as a
    download.
    """

    model: str = ""
    pair: PairState = "none"
    loading: Loading | None = None
    reading: Reading | None = None
    is_decoding: bool = False
    tokens_per_second: float | None = None
    course: tuple[float, ...] = ()
    acceptance: float | None = None
    tokens_per_pass: float | None = None
    parked: bool = False
    """No draft would pay now."""
    gain: Gain | None = None
    context_used: int = 0
    context_size: int = 0
    warn_at: int = 0
    compact_at: int = 0
    thinking: bool = False
    mode: Mode = "ask"
    label: str = ""
    """What may be said of the text: "exact", "not exact (...)" or nothing."""
    queued: int = 0
    note: str = ""

    def measured(self, log: SpeedLog, gain: Gain | None) -> Status:
        """The same with what ``log`` has measured by now."""
        tally, course = log.tally, log.course
        has_speed = tally is not None and tally.decoded_tokens > 0
        return replace(
            self,
            loading=log.loading,
            reading=log.reading,
            is_decoding=log.is_decoding,
            tokens_per_second=log.tokens_per_second if has_speed else None,
            course=tuple(course.last(COURSE, 1.0)) if course is not None else (),
            acceptance=tally.acceptance if tally is not None else None,
            tokens_per_pass=tally.tokens_per_pass if tally is not None else None,
            parked=tally is not None and tally.pace is not None and tally.pace.parked_now,
            gain=gain,
        )

    def filled(self, use: ContextUse) -> Status:
        """The same with so much in the context."""
        window = use.window
        return replace(
            self,
            context_used=use.prompt,
            context_size=window.size,
            warn_at=window.warn_at,
            compact_at=window.compact_at,
        )

"""What pace knows of one sequence: how its text goes with each source, and what was decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gemma_local.engine.commands import LOOKUP_MAX
from gemma_local.engine.events import PaceTally
from gemma_local.engine.pace.calibration import Calibration, Recent
from gemma_local.engine.pace.chances import Trend
from gemma_local.engine.pace.probing import Probing

_FIRST_PROBE, _LAST_PROBE = 8, 32


class Tracker:
    """Trends against what is usual, the next probe, and counts for the tally.

    ``length`` is the length that was last meant to be drafted, ``seconds`` were spent deciding.
    """

    def __init__(self, calibration: Calibration) -> None:
        self.by_place = Trend()
        self.by_confidence = Trend()
        self.by_match = Trend()
        self.recent = Recent()
        self.probing = Probing(_FIRST_PROBE, _LAST_PROBE)
        self.length = 0
        self.lengths = [0] * (LOOKUP_MAX + 1)
        self.passes = 0
        self.parked = 0
        self.parked_now = False
        self.reason = ""
        self.plain_speed: float | None = None
        self.seconds = 0.0
        self._calibration = calibration

    def park(self, reason: str) -> None:
        """Nothing is to be drafted in this pass, because it would not pay."""
        self.parked_now, self.reason = True, reason

    def go(self) -> None:
        """Something is drafted, or there was nothing to draft."""
        self.parked_now, self.reason = False, ""

    def count(self, length: int) -> None:
        """A pass ended that verified a draft of this length."""
        self.lengths[length] += 1
        self.passes += 1
        if length:
            # A probe may turn out to be worth checking.
            self.go()
        self.parked += self.parked_now

    def tally(self) -> PaceTally:
        """The figures of a sequence whose draft length is left to pace."""
        longest = max((n for n, count in enumerate(self.lengths) if count), default=-1)
        return PaceTally(
            lengths=tuple(self.lengths[: longest + 1]),
            parked=self.parked,
            parked_now=self.parked_now,
            reason=self.reason,
            plain_speed=self.plain_speed,
            calibration=self._calibration.rows(),
            seconds=self.seconds,
        )


@dataclass(slots=True)
class Seat:
    """What a sequence, in its ``slot`` of the cache, brings to a step.

    ``room`` is the longest draft in bounds, ``fixed`` the length that was asked for, None where
    it is left to pace. Passes are filled up to multiples of ``block`` rows; one that does not
    ``share`` has a pass of its own. ``match`` tokens at the end of the text occurred before and
    went on with ``continuation``.
    """

    tracker: Tracker
    room: int
    fixed: int | None = None
    block: int = 1
    shares: bool = True
    match: int = 0
    continuation: Sequence[int] = ()
    slot: int = 0

    def filled(self, rows: int) -> int:
        """Rows of the sequence in a pass, of which ``rows`` are real ones."""
        block = self.block
        return rows if block == 1 else -(-rows // block) * block

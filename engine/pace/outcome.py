"""What steps came to, taken in several at once.

Between two passes of a large model nothing of this is in the processor's caches, so that the first
thing that is done costs several times what the same thing costs right after: learning from eight
passes in a row takes hardly longer than from one. What is news is taken in at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gemma_local.engine.pace.cost import DRAFTED
from gemma_local.engine.pace.step import Step

TOGETHER: Final = 16
"""Steps that are taken in at once, at most."""
_BEGINNING: Final = 4
"""Passes of a text from each of which is learned at once."""
_KNOWN: Final = 4
"""Times that the cost of a pass must rest on to wait for the next one."""


@dataclass(slots=True)
class Outcome:
    """A step with the tokens of each sequence, rows and seconds of its passes, and the seconds that
    the drafter took for so many rounds."""

    step: Step
    emitted: Sequence[Sequence[int]]
    passes: Sequence[tuple[int, float]]
    rounds: int
    drafting: float

    @property
    def is_news(self) -> bool:
        """Whether the next decision may be another one because of it: a draft that is wrong from
        its first token on, a look at what does not pay, a match that was not trusted, a text that
        has just begun, a pass of which little is known."""
        step, emitted, made = self.step, self.emitted, self.step.made
        for i, seat in enumerate(step.seats):
            tracker, checked = seat.tracker, step.checked[i]
            if (checked and len(emitted[i]) <= 1) or (tracker.parked_now and made[i]):
                return True
            if seat.continuation and not checked:
                return True
            if seat.fixed is None and tracker.passes < _BEGINNING:
                return True
        return any(step.table.count(rows) < _KNOWN for rows, _ in self.passes)

    def take_in(self) -> None:
        """Learn from it."""
        step = self.step
        step.learn(self.emitted)
        if self.rounds:
            step.table.observe(DRAFTED, self.drafting / self.rounds)
        for rows, seconds in self.passes:
            step.table.observe(rows, seconds)

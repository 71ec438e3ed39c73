"""How far to draft in each step, decided for all sequences of an engine."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from gemma_local.engine.commands import DRAFT_MAX
from gemma_local.engine.pace.calibration import Calibration
from gemma_local.engine.pace.chances import Rates
from gemma_local.engine.pace.choice import Bounds, Choice
from gemma_local.engine.pace.cost import Costs, CostTable
from gemma_local.engine.pace.decision import Decision
from gemma_local.engine.pace.knowledge import Knowledge
from gemma_local.engine.pace.matches import BELIEFS
from gemma_local.engine.pace.outcome import TOGETHER, Outcome
from gemma_local.engine.pace.prospect import Prospect
from gemma_local.engine.pace.step import Step
from gemma_local.engine.pace.tracker import Seat, Tracker
from gemma_local.engine.pace.watch import Watch

_USUAL_SHARE: Final = 0.7
"""Share of a drafter's tokens that are kept, before any were seen (0.3 to 0.95 by kind of text)."""
_SURE: Final = 4
"""Times that an average must rest on to conclude something for a whole run."""
_KEEP_EVERY: Final = 512
"""Steps after which what was learned is written down, in case the process does not end well."""


class Pace:
    """What was learned of this pair on this machine, and the decisions that follow from it."""

    def __init__(
        self,
        *,
        draft_max: int,
        lookup_max: int,
        most_rows: int,
        start: int = 3,
        knowledge: Knowledge | None = None,
    ) -> None:
        """
        Args:
            draft_max: longest draft of the drafter, 0 without one.
            lookup_max: longest draft from the text itself, 0: none.
            most_rows: of one pass.
            start: length to begin with where nothing was learned.
            knowledge: of earlier runs; `keep` writes it.
        """
        self.bounds = Bounds(draft_max, lookup_max, start)
        self._most_rows = most_rows
        self._knowledge = knowledge
        self._steps = 0
        self._waiting: list[Outcome] = []
        self._last: Decision | None = None
        self._know_nothing()
        self._restore()

    def _know_nothing(self) -> None:
        self.costs = Costs(self._most_rows)
        self.rates = Rates([_USUAL_SHARE] * DRAFT_MAX)
        self.match_rates = Rates(BELIEFS)
        self.calibration = Calibration()
        # What plain decoding takes depends on the number of sequences and on their passes.
        self._watches: dict[tuple[int, int], Watch] = {}

    def track(self) -> Tracker:
        """For a sequence that begins."""
        return Tracker(self.calibration)

    # ----------------------------------------------------------------------------------- decide

    def plan(self, seats: Sequence[Seat], threads: int, context: int) -> Step:
        """Decide how to draft in the step that begins.

        Args:
            seats: one for each sequence.
            threads: that llama.cpp computes with now.
            context: tokens in the longest sequence's cache.
        """
        began = time.perf_counter()
        table = self.costs.table(threads, context)
        last = self._last
        if last is None or not last.holds(seats, table):
            last = self._last = self._decide(seats, table)
            lengths = last.lengths
        else:
            # Nothing was learned since that might change it.
            lengths = last.again()
        step = last.idle if not any(lengths) else None
        if step is None:
            prospects = last.prospects(seats, lengths)
            step = Step(
                *(seats, prospects, last.groups, table),
                *(self.calibration, self.rates, self.match_rates),
            )
            if not any(step.lengths) and not any(seat.continuation for seat in seats):
                last.idle = step
        self._consult_watch(seats, step)
        step.seconds = time.perf_counter() - began
        return step

    def _decide(self, seats: Sequence[Seat], table: CostTable) -> Decision:
        groups = _groups(seats)
        prospects: list[Prospect | None] = [None] * len(seats)
        for group in groups:
            choice = Choice(
                [seats[i] for i in group],
                *(self.bounds, table, self.rates, self.match_rates, self.calibration),
            )
            for i, prospect in zip(group, choice.prospects(), strict=True):
                prospects[i] = prospect
        return Decision(seats, table, groups, prospects)

    def _consult_watch(self, seats: Sequence[Seat], step: Step) -> None:
        begins = False
        for seat in seats:
            if seat.fixed is not None:
                step.watch = None
                return
            begins = begins or not seat.tracker.passes
        kind = len(seats), seats[0].block
        watch = self._watches.get(kind)
        if watch is None:
            watch = self._watches[kind] = Watch()
        step.watch = watch
        if begins:
            watch.begin()
        wants, forbids = step.is_drafting, watch.forbids
        if watch.allows(wants_draft=wants):
            return
        step.check_nothing()
        for seat in seats:
            seat.tracker.length = 0
            if wants and forbids:
                seat.tracker.park("with drafts it was measured to be slower than without")

    # ------------------------------------------------------------------------------------ learn

    def learn(
        self,
        step: Step,
        emitted: Sequence[Sequence[int]],
        passes: Sequence[tuple[int, float]],
        drafting: float,
    ) -> None:
        """Take in what a step came to.

        Args:
            emitted: the tokens of each sequence.
            passes: rows, those of filling included, and seconds of each pass of the target.
            drafting: seconds of making the drafts.
        """
        began = time.perf_counter()
        made = step.rounds
        outcome = Outcome(step, emitted, passes, made, drafting)
        self._waiting.append(outcome)
        if len(self._waiting) >= TOGETHER or outcome.is_news:
            self._take_in()
        step.count()
        # A probe is neither the one nor the other.
        if step.watch is not None and (step.is_drafting or not made):
            spent = drafting
            for _, seconds in passes:
                spent += seconds
            step.watch.observe(step.is_drafting, sum(map(len, emitted)), spent)
        self._steps += 1
        if self._steps % _KEEP_EVERY == 0:
            self.keep()
        step.seconds += time.perf_counter() - began
        for seat in step.seats:
            seat.tracker.seconds += step.seconds

    def _take_in(self) -> None:
        """Learn from the steps that wait for it."""
        for outcome in self._waiting:
            outcome.take_in()
        self._waiting.clear()
        self._last = None

    def has_free_rows(self, rows: int, threads: int, limit: float) -> bool:
        """Whether earlier runs found that passes of ``rows`` take at most ``limit`` times as long
        as those of one row."""
        table = self.costs.table(threads, 0)
        if min(table.count(1), table.count(rows)) < _SURE:
            return False
        measured = {n: seconds for n, seconds, _ in table.entries()}
        return measured[rows] <= limit * measured[1]

    # ------------------------------------------------------------------------------------- keep

    def keep(self) -> None:
        """Write what was learned to the file, if there is one."""
        self._take_in()
        if self._knowledge is not None and self._steps:
            self._knowledge.write(
                {
                    "costs": self.costs.as_plain(),
                    "rates": self.rates.as_plain(),
                    "match_rates": self.match_rates.as_plain(),
                    "calibration": self.calibration.as_plain(),
                }
            )

    def _restore(self) -> None:
        learned = self._knowledge.read() if self._knowledge is not None else None
        if learned is None:
            return
        try:
            self.costs.restore(learned["costs"])
            self.rates.restore(learned["rates"])
            self.match_rates.restore(learned["match_rates"])
            self.calibration.restore(learned["calibration"])
        # Whatever the file holds in their places.
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
            self._know_nothing()


def _groups(seats: Sequence[Seat]) -> list[list[int]]:
    """Which sequences share a pass, by their indices: those in slots that follow on one another
    (`engine.passes`)."""
    groups: list[list[int]] = []
    for i in sorted(range(len(seats)), key=lambda i: seats[i].slot):
        seat, last = seats[i], seats[groups[-1][-1]] if groups else None
        if last is not None and last.slot + 1 == seat.slot and _share(last, seat):
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def _share(one: Seat, other: Seat) -> bool:
    return one.shares and other.shares and one.block == other.block

"""One step's drafts, from the decision to what became of them."""

from __future__ import annotations

import time
from collections.abc import Sequence

from gemma_local.engine.pace.calibration import Calibration
from gemma_local.engine.pace.chances import Rates, expit
from gemma_local.engine.pace.cost import CostTable
from gemma_local.engine.pace.matches import match_place, match_runs
from gemma_local.engine.pace.prospect import Prospect
from gemma_local.engine.pace.tracker import Seat
from gemma_local.engine.pace.watch import Watch
from gemma_local.engine.pace.weighing import best_length, together


class Step:
    """Guides the drafter through a step, and learns from its outcome.

    ``lengths`` are how many tokens the drafter may make for each sequence; ``checked`` how many
    tokens of each were verified in the end. ``is_drafting``: because it pays, not to probe.
    ``seconds`` were spent on deciding and learning; ``watch`` is told how it went, if any.
    """

    def __init__(
        self,
        seats: Sequence[Seat],
        prospects: list[Prospect | None],
        groups: Sequence[Sequence[int]],
        table: CostTable,
        calibration: Calibration,
        rates: Rates,
        match_rates: Rates,
    ) -> None:
        self.seats = seats
        self.table = table
        self.lengths: list[int] = []
        self.checked: list[int] = [0] * len(seats)
        self.seconds = 0.0
        self.watch: Watch | None = None
        self.is_drafting = makes = False
        for seat, prospect in zip(seats, prospects, strict=True):
            if prospect is None:
                self.lengths.append(seat.tracker.length)
                continue
            self.lengths.append(prospect.most)
            if prospect.most or prospect.begun:
                makes = makes or prospect.most > 0
                self.is_drafting = self.is_drafting or not seat.tracker.parked_now
        self.wants_confidence = makes and calibration.wanted()
        if makes and not self.wants_confidence:
            # Nothing that could change the plan is learned on the way.
            for i, prospect in enumerate(prospects):
                if prospect is not None:
                    self.lengths[i] = prospect.planned
        self._prospects = prospects
        self._groups = groups
        self._made: Sequence[Sequence[int]] = [()] * len(seats)
        self._calibration = calibration
        self._rates = rates
        self._match_rates = match_rates
        self._places = rates.logits()
        self._classes = calibration.rates.logits()
        self._trusts = calibration.is_useful

    def check_nothing(self) -> None:
        """Make it a step without drafts."""
        self._prospects = [Prospect((0.0,), 0.0, 0.0) for _ in self.seats]
        self.lengths = [0] * len(self.seats)
        self.is_drafting = False

    # ------------------------------------------------------------------- what the drafter asks

    def begun(self, index: int) -> list[int]:
        """Tokens with which the draft of a sequence begins, from the text itself."""
        prospect = self._prospects[index]
        return prospect.begun if prospect is not None else []

    def goes_on(self, index: int, confidence: float) -> bool:
        """Whether another token is worth making for a sequence, now that one has been made.

        ``confidence`` is the probability that the drafter states for it.
        """
        prospect = self._prospects[index]
        if prospect is None:
            return True
        began = time.perf_counter()
        tracker = self.seats[index].tracker
        if self._trusts and 0.0 <= confidence <= 1.0:
            usual = self._classes[self._calibration.place(confidence)]
            chance = expit(usual + tracker.by_confidence.shift)
        else:
            # Logits that are no numbers have no probability.
            place = len(prospect.begun) + len(prospect.confidences)
            chance = expit(self._places[place] + tracker.by_place.shift)
        goes_on = prospect.add(chance, confidence)
        self.seconds += time.perf_counter() - began
        return goes_on

    # ---------------------------------------------------------------------------- what comes of it

    def settle(self, made: Sequence[Sequence[int]]) -> list[list[int]]:
        """The drafts to verify, given what the drafter made for each sequence."""
        began = time.perf_counter()
        self._made = made
        lengths: list[int] = []
        for i, prospect in enumerate(self._prospects):
            own = made[i]
            if prospect is None:
                lengths.append(len(own))
                continue
            if own and not self.wants_confidence:
                prospect.take(len(own))
            lengths.append(prospect.best_length)
        for group in self._groups:
            if len(group) > 1:
                self._align(group, lengths)
        drafts: list[list[int]] = []
        for i, prospect in enumerate(self._prospects):
            begun = prospect.begun if prospect is not None else []
            drafts.append([*begun, *made[i]][: lengths[i]])
        self.checked = list(map(len, drafts))
        self.seconds += time.perf_counter() - began
        return drafts

    def _align(self, group: Sequence[int], lengths: list[int]) -> None:
        """Cut the drafts of sequences that share a pass where it is best for all together: each
        of them has as many rows as the longest."""
        prospects = [self._prospects[i] for i in group]
        free = [prospect for prospect in prospects if prospect is not None]
        if not free:
            return
        asked = max((lengths[i] for i in group if self._prospects[i] is None), default=0)
        reached = together([prospect.reached for prospect in free])
        seconds, fill = self.table.seconds(), self.seats[group[0]].filled
        rows = [len(group) * fill(1 + max(n, asked)) for n in range(len(reached) + 1)]
        spent = [seconds[min(n, len(seconds) - 1)] for n in rows]
        extra = [after - spent[0] for after in spent]
        best, _gain = best_length(reached, extra, free[0].worth)
        for i in group:
            prospect = self._prospects[i]
            if prospect is not None:
                lengths[i] = min(len(prospect.reached), max(best, asked))

    def pass_seconds(self, rows: int) -> float:
        """What a pass of so many rows is expected to take."""
        seconds = self.table.seconds()
        if rows < len(seconds):
            return seconds[rows]
        return seconds[-1] * rows / (len(seconds) - 1)

    @property
    def made(self) -> Sequence[Sequence[int]]:
        """What the drafter made for each sequence."""
        return self._made

    @property
    def rounds(self) -> int:
        """How many rounds the drafter made: it reads first what was found in the text."""
        rounds = 0
        for i, own in enumerate(self._made):
            if own:
                rounds = max(rounds, len(self.begun(i)) + len(own))
        return rounds

    def learn(self, emitted: Sequence[Sequence[int]]) -> None:
        """Compare with what the target chose, whether it was asked about it or not.

        ``emitted`` are the tokens of each sequence.
        """
        for i, seat in enumerate(self.seats):
            self._learn_match(seat, emitted[i])
            self._learn_made(i, seat, emitted[i])

    def count(self) -> None:
        """Count what was verified, for the tallies."""
        for i, seat in enumerate(self.seats):
            if seat.fixed is None:
                seat.tracker.count(self.checked[i])

    def _learn_match(self, seat: Seat, emitted: Sequence[int]) -> None:
        if not seat.continuation:
            return
        right = 0
        for token, own in zip(seat.continuation, emitted, strict=False):
            if token != own:
                break
            right += 1
        # In one go for all of a class: hundreds of tokens a second may come of matches.
        for place, times in match_runs(seat.match, right):
            self._learn_matched(seat, place, True, times)
        if right < min(len(seat.continuation), len(emitted)):
            self._learn_matched(seat, match_place(seat.match + right), False, 1)

    def _learn_matched(self, seat: Seat, place: int, kept: bool, times: int) -> None:
        expected = expit(self._match_rates.logits()[place])
        seat.tracker.by_match.learn(expected, kept, times)
        self._match_rates.learn(place, kept, times)

    def _learn_made(self, index: int, seat: Seat, emitted: Sequence[int]) -> None:
        begun, made, tracker = self.begun(index), self._made[index], seat.tracker
        prospect = self._prospects[index]
        first = len(begun)
        if not made or first >= len(emitted) or list(emitted[:first]) != begun:
            tracker.by_place.fade()
            tracker.by_confidence.fade()
            return
        confidences = prospect.confidences if prospect is not None else ()
        if confidences and confidences[0] is not None:
            tracker.recent.add(confidences[0])
        for n, (token, own) in enumerate(zip(made, emitted[first:], strict=False)):
            kept = token == own
            confidence = confidences[n] if n < len(confidences) else None
            self._learn_token(seat, first + n, kept, confidence)
            if not kept:
                break
        if tracker.parked_now:
            if made[0] == emitted[first]:
                tracker.probing.succeeded()
            else:
                tracker.probing.failed()

    def _learn_token(self, seat: Seat, place: int, kept: bool, confidence: float | None) -> None:
        tracker = seat.tracker
        usual_place = expit(self._places[place])
        if confidence is not None:
            usual = self._classes[self._calibration.place(confidence)]
            by_place = expit(self._places[place] + tracker.by_place.shift)
            by_confidence = expit(usual + tracker.by_confidence.shift)
            self._calibration.learn(confidence, kept, by_confidence, by_place)
            tracker.by_confidence.learn(expit(usual), kept)
        tracker.by_place.learn(usual_place, kept)
        self._rates.learn(place, kept)

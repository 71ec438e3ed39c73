"""Which source drafts for each sequence of a pass, and how far it is meant to go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

from gemma_local.engine.commands import DRAFT_MAX
from gemma_local.engine.pace.calibration import Calibration
from gemma_local.engine.pace.chances import Rates, expit
from gemma_local.engine.pace.cost import DRAFTED, CostTable
from gemma_local.engine.pace.matches import match_runs
from gemma_local.engine.pace.prospect import Prospect
from gemma_local.engine.pace.tracker import Seat
from gemma_local.engine.pace.weighing import (
    Curve,
    best_length,
    curve,
    least_seconds_per_token,
    together,
)

_PLAIN_FIRST: Final = 2
"""Passes without a draft that a machine about which nothing is known begins with."""
_WIDER: Final = 2
"""Rows by which drafts may be longer than the widest pass that was ever measured; those that were
found in the text, which cost nothing to make, may be twice as long."""
_MARGIN: Final = 0.02
"""Share of a pass that drafts must promise to gain before they begin again: chances and costs are
only known so well."""
_HOPE: Final = 0.98
"""Chance of each drafted token in the best of texts."""
_PROBE_SHARE: Final = 0.01
_LAST_PROBE_SHARE: Final = 0.002
"""Of the time, what looking at a parked drafter may take at first and in the end."""
_FEWEST_PROBES: Final = 3
"""In a row, after which the next one may wait; more of them where all take less than a pass."""
_FIRST_PROBES: Final = 0.3
"""Passes that it may take to look at a text that has just begun."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """``draft_max``: longest draft of the drafter, 0 without one; ``lookup_max``: longest draft
    from the text itself; ``start``: length to begin with where nothing is known."""

    draft_max: int
    lookup_max: int
    start: int


@dataclass(slots=True)
class _Option:
    """What a sequence may draft: the chances of the drafter's tokens and their curve, the chances
    of tokens found in the text, and the curve of what is taken."""

    chances: list[float]
    drafted: Curve
    found: list[float]
    taken: Curve
    takes_found: bool = False


class Choice:
    """Weighs the drafts of the sequences that share a pass."""

    def __init__(
        self,
        seats: Sequence[Seat],
        bounds: Bounds,
        table: CostTable,
        rates: Rates,
        match_rates: Rates,
        calibration: Calibration,
    ) -> None:
        self._seats = seats
        self._bounds = bounds
        self._table = table
        self._seconds = table.seconds()
        self._making = self._seconds[DRAFTED]
        self._rates = rates
        self._match_rates = match_rates
        self._calibration = calibration
        for seat in seats:
            if seat.fixed is not None:
                seat.tracker.length = min(seat.fixed, seat.room, bounds.draft_max)
        fixed = [seat.tracker.length for seat in seats if seat.fixed is not None]
        self._free = [seat for seat in seats if seat.fixed is None]
        # Where somebody drafts so many tokens anyway the others have the rows for nothing.
        self._given = max(fixed, default=0)
        self._plain = len(seats) * seats[0].filled(1 + self._given)

    def prospects(self) -> list[Prospect | None]:
        """One for each sequence, None for those with a length of their own."""
        if not self._free:
            return [None] * len(self._seats)
        base = self._at(self._plain)
        is_new = self._table.count(self._plain) < _PLAIN_FIRST
        if is_new and min(sum(seat.tracker.lengths) for seat in self._free) < _PLAIN_FIRST:
            return self._chosen([_Option([], [], [], [])] * len(self._free), 0, [0.0], base, 0.0)
        options = [self._option(seat) for seat in self._free]
        extra = self._extra(max(max(len(o.chances), len(o.found)) for o in options))
        worth = least_seconds_per_token(
            together([option.drafted for option in options]),
            *(base, extra, self._making, self._plain_tokens()),
        )
        count = len(self._seats)
        share = extra if count == 1 else [each / count for each in extra]
        for seat, option in zip(self._free, options, strict=True):
            if option.found:
                self._take_better(seat, option, share, worth)
        making = 0.0 if all(option.takes_found for option in options) else self._making
        all_taken = together([option.taken for option in options])
        length, gain = best_length(all_taken, extra, worth, making)
        if gain < _MARGIN * base and all(seat.tracker.parked_now for seat in self._free):
            length = 0
        return self._chosen(options, length, share, base, worth)

    def _take_better(
        self, seat: Seat, option: _Option, share: Sequence[float], worth: float
    ) -> None:
        """Take what was found in the text, if that gains more than what the drafter makes."""
        found = curve(option.found)
        length, by_lookup = best_length(found, share, worth)
        by_lookup += self._more(seat, found[:length], share, worth)[1]
        if by_lookup > best_length(option.drafted, share, worth, self._share)[1]:
            option.taken, option.takes_found = found, True

    @property
    def _share(self) -> float:
        """Seconds of a round of the drafter that fall to each sequence."""
        return self._making / len(self._seats)

    def _at(self, rows: int) -> float:
        return self._seconds[min(rows, len(self._seconds) - 1)]

    def _extra(self, most: int) -> list[float]:
        """Seconds that the pass takes longer at each length, from 0 to ``most``."""
        count, fill, given = len(self._seats), self._seats[0].filled, self._given
        seconds, last = self._seconds, len(self._seconds) - 1
        base = self._at(self._plain)
        # The usual case: one sequence, for which nobody has asked for rows.
        if count * fill(1) == 1 and most < last:
            return [after - base for after in seconds[1 : most + 2]]
        rows = [count * fill(1 + n) for n in range(given, max(most, given) + 1)]
        after = [seconds[min(n, last)] - base for n in rows]
        return [0.0] * given + after if given else after

    def _plain_tokens(self) -> float:
        """Expected tokens of the pass when nothing more is drafted than was asked for."""
        asked = [seat for seat in self._seats if seat.fixed is not None]
        drafted = (sum(curve(self._chances(seat, seat.tracker.length))) for seat in asked)
        return len(self._seats) + sum(drafted)

    def _option(self, seat: Seat) -> _Option:
        # Never many more rows than were measured: what those cost is a guess.
        widest = self._table.widest // len(self._seats)
        tried = max(self._bounds.start, widest - 1 + _WIDER)
        most = min(seat.room, self._bounds.draft_max, tried)
        found = min(
            len(seat.continuation), seat.room, self._bounds.lookup_max, max(tried, widest * 2 - 1)
        )
        chances = self._chances(seat, most)
        drafted = curve(chances)
        return _Option(chances, drafted, self._match_chances(seat, found), drafted)

    def _chances(self, seat: Seat, count: int) -> list[float]:
        """Of the drafter's tokens by place in the draft, before their confidence is known.

        A later one is not taken to be likelier than those before it: it was only ever seen where
        they were kept, so mostly in texts that are easy.
        """
        shift = seat.tracker.by_place.shift
        usual = accumulate(self._rates.logits()[:count], min)
        return [expit(value + shift) for value in usual]

    def _match_chances(self, seat: Seat, count: int) -> list[float]:
        """Of the tokens that followed a match: each that is kept makes the match longer."""
        if count <= 0:
            return []
        shift, logits = seat.tracker.by_match.shift, self._match_rates.logits()
        chances: list[float] = []
        for place, times in match_runs(seat.match, count):
            chances += [expit(logits[place] + shift)] * times
        return chances

    def _chosen(
        self,
        options: Sequence[_Option],
        length: int,
        extra: list[float],
        base: float,
        worth: float,
    ) -> list[Prospect | None]:
        options_left = iter(options)
        prospects: list[Prospect | None] = []
        for seat in self._seats:
            if seat.fixed is not None:
                prospects.append(None)
                continue
            option = next(options_left)
            seat.tracker.length = min(length, len(option.taken))
            seat.tracker.plain_speed = 1.0 / base if worth else None
            prospects.append(self._prospect(seat, option, extra, base, worth))
        return prospects

    def _prospect(
        self, seat: Seat, option: _Option, extra: list[float], base: float, worth: float
    ) -> Prospect:
        tracker, making, chances = seat.tracker, self._share, option.chances
        length = tracker.length
        if not option.chances and not option.found:
            tracker.go()
            return Prospect(extra, worth, making)
        if option.takes_found and length:
            tracker.go()
            more, _gain = self._more(seat, option.taken[:length], extra, worth)
            tracker.length += more
            after = self._chances(seat, DRAFT_MAX)[length : length + more] if more else []
            begun = list(seat.continuation[:length])
            return Prospect(extra, worth, making, after, more, begun, option.found[:length])
        if length or self._gains_by_asking(seat, chances, extra, worth):
            tracker.go()
            tracker.probing.restart()
            # Alone, one that is sure of itself may go on; else all others would wait for it.
            most = len(chances) if len(self._seats) == 1 else length
            return Prospect(extra, worth, making, chances, most, planned=length)
        tracker.park(_reason(chances or option.found, extra, base / len(self._seats)))
        if not self._could_pay(chances, extra, worth):
            # Then it is no use to know how good the drafter is.
            return Prospect(extra, worth, making)
        return Prospect(extra, worth, making, chances[:1], self._probes(seat, chances, base))

    def _could_pay(self, chances: list[float], extra: list[float], worth: float) -> bool:
        """Whether some draft would pay if the drafter were as good as drafters get."""
        hoped = curve([_HOPE] * min(len(chances), len(extra) - 1))
        together_hoped = [len(self._seats) * each for each in hoped]
        return best_length(together_hoped, extra, worth, self._making)[0] > 0

    def _gains_by_asking(
        self, seat: Seat, chances: list[float], extra: list[float], worth: float
    ) -> bool:
        """Whether it pays to draft a token and to check it only where its confidence says so."""
        if not chances or not self._calibration.is_useful or len(self._seats) > 1:
            return False
        shift, making = seat.tracker.by_confidence.shift, self._share
        tails, reached, tail = [1.0], 1.0, 1.0
        for chance in chances[1:]:
            reached *= chance
            tail += reached
            tails.append(tail)
        total = 0.0
        classes = self._calibration.rates.logits()
        shares = self._calibration.shares(seat.tracker.recent)
        for usual, share in zip(classes, shares, strict=True):
            if share:
                scale = expit(usual + shift) * worth
                gains = (
                    scale * tail - extra[n] - (n - 1) * making for n, tail in enumerate(tails, 1)
                )
                total += share * max(*gains, 0.0)
        return total - making > _MARGIN * self._at(self._plain)

    def _more(
        self, seat: Seat, begun: Curve, extra: Sequence[float], worth: float
    ) -> tuple[int, float]:
        """How many tokens the drafter should add behind what was found in the text, whose curve is
        ``begun``, and what they gain: it has to read that first, which takes as long as to draft
        it."""
        length = len(begun)
        most = min(self._bounds.draft_max, seat.room, len(extra) - 1) - length
        if not length or most < 1:
            return 0, 0.0
        rest = [after - extra[length] for after in extra[length : length + most + 1]]
        after = curve([begun[-1], *self._chances(seat, DRAFT_MAX)[length : length + most]])[1:]
        more, gain = best_length(after, rest, worth, self._share)
        gain -= length * self._share
        return (more, gain) if gain > 0.0 else (0, 0.0)

    def _probes(self, seat: Seat, chances: list[float], base: float) -> int:
        """Tokens to draft although it does not pay: now and then one, to see whether it would be
        right. It is not even checked then; the target's own choice tells."""
        if not chances:
            return 0
        # Each sequence looks for itself, and all wait for it.
        probing, price = seat.tracker.probing, self._making / base * len(self._seats)
        probing.set_bounds(
            min(max(8, round(price / _PROBE_SHARE)), 64),
            min(max(32, round(price / _LAST_PROBE_SHARE)), 512),
            at_once=min(int(_FIRST_PROBES / price), 8),
            enough=min(max(round(1.0 / price), _FEWEST_PROBES), 64),
        )
        return int(probing.is_due())


def _reason(chances: Sequence[float], extra: Sequence[float], plain: float) -> str:
    row = min(after - before for before, after in pairwise(extra)) if len(extra) > 1 else 0.0
    return (
        f"about {chances[0]:.0%} of drafted tokens would be kept, and to check one takes "
        f"{max(row, 0.0) / plain:.0%} of what a token takes without"
    )

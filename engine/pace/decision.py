"""A decision that holds for further steps, until something is learned."""

from __future__ import annotations

from collections.abc import Sequence

from gemma_local.engine.pace.cost import CostTable
from gemma_local.engine.pace.prospect import Prospect
from gemma_local.engine.pace.step import Step
from gemma_local.engine.pace.tracker import Seat


class Decision:
    """What was decided for some sequences, and under which conditions.

    ``groups`` are the sequences that share a pass, ``lengths`` how many tokens the drafter may make
    for each. ``idle`` is a step in which it makes none, to be taken again.
    """

    def __init__(
        self,
        seats: Sequence[Seat],
        table: CostTable,
        groups: Sequence[Sequence[int]],
        prospects: Sequence[Prospect | None],
    ) -> None:
        self.groups = groups
        self.lengths = [0 if prospect is None else prospect.most for prospect in prospects]
        self.idle: Step | None = None
        self._seats = seats
        self._table = table
        self._prospects = prospects
        self._meant = [(seat.tracker.length, seat.tracker.parked_now) for seat in seats]
        self._is_new = True

    def holds(self, seats: Sequence[Seat], table: CostTable) -> bool:
        """Whether it would be the same one for these, with what is known."""
        if table is not self._table or len(seats) != len(self._seats):
            return False
        return all(map(_is_alike, seats, self._seats))

    def again(self) -> list[int]:
        """Lengths for the next step: the same, and now and then one token where none is meant."""
        lengths = self.lengths[:]
        for i, (seat, prospect) in enumerate(zip(self._seats, self._prospects, strict=True)):
            tracker = seat.tracker
            tracker.length, tracker.parked_now = self._meant[i]
            if prospect is not None and tracker.parked_now:
                lengths[i] = int(bool(prospect.chances) and tracker.probing.is_due())
        return lengths

    def prospects(self, seats: Sequence[Seat], lengths: Sequence[int]) -> list[Prospect | None]:
        """Those of a step of these with these lengths, to which nothing has happened yet."""
        if self._is_new:
            self._is_new = False
            return list(self._prospects)
        return [
            None if prospect is None else prospect.afresh(most, seat.continuation)
            for prospect, most, seat in zip(self._prospects, lengths, seats, strict=True)
        ]


def _is_alike(one: Seat, other: Seat) -> bool:
    """Whether a sequence is where it was: a draft may be as long, and what it may take from the
    text is as likely, though other tokens."""
    return (
        one.tracker is other.tracker
        and one.match == other.match
        and len(one.continuation) == len(other.continuation)
        and one.room == other.room
        and one.fixed == other.fixed
        and one.block == other.block
        and one.shares == other.shares
        and one.slot == other.slot
    )

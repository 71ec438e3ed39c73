"""Copies of caches in ordinary memory: checkpoints and parked conversations, in one budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gemma_local.engine.cached import Cached
from gemma_local.engine.runtime.context import Bytes
from gemma_local.engine.slot import Slot, reaches_back


@dataclass(slots=True, eq=False)
class Parked:
    """A conversation whose slot another one needed: a copy of the slot's state.

    ``first`` is the oldest position of the sliding window in it.
    """

    cached: Cached
    state: Bytes
    first: int

    def can_cut(self, length: int, window: int, *, exact: bool) -> bool:
        """As ``Slot.can_cut``, once the state is back in a slot."""
        return reaches_back(self.first, len(self.cached), length, window, exact=exact)


class Copies:
    """Parked conversations, and the checkpoints of these and of what the slots hold."""

    def __init__(self, budget: int, slots: Sequence[Slot]) -> None:
        """``budget`` in bytes. Checkpoints are taken and put into ``Cached`` by others, after
        ``make_room`` for them."""
        self.budget = budget
        self.parked: list[Parked] = []
        self._slots = slots

    @property
    def held(self) -> list[Cached]:
        """What the slots hold, in their order, then what is parked."""
        return [slot.cached for slot in self._slots] + [parked.cached for parked in self.parked]

    @property
    def checkpoints(self) -> tuple[int, int]:
        """Number and bytes of all checkpoints. Branches of a conversation may share some."""
        sizes = {id(c): c.bytes for cached in self.held for c in cached.checkpoints}
        return len(sizes), sum(sizes.values())

    @property
    def parked_bytes(self) -> int:
        return sum(parked.state.size for parked in self.parked)

    def make_room(self, size: int, current: Cached) -> bool:
        """Let ``size`` more bytes fit into the budget; False when they cannot.

        First the checkpoints of the ``current`` conversation are thinned, as long as they take
        more than half; then what was not of use for longest goes, its checkpoints before itself.
        """
        if size > self.budget:
            return False
        while self.checkpoints[1] + self.parked_bytes + size > self.budget:
            own = sum(checkpoint.bytes for checkpoint in current.checkpoints)
            others = [
                cached
                for cached in sorted(self.held, key=lambda cached: cached.used)
                if cached is not current and (cached.checkpoints or self._is_parked(cached))
            ]
            if current.checkpoints and (own > self.budget // 2 or not others):
                current.thin()
            elif others:
                self._shed(others[0])
            else:
                return False
        return True

    def _is_parked(self, cached: Cached) -> bool:
        return any(parked.cached is cached for parked in self.parked)

    def _shed(self, cached: Cached) -> None:
        if len(cached.checkpoints) > 1 or not self._is_parked(cached):
            cached.thin()
        else:
            self.parked = [parked for parked in self.parked if parked.cached is not cached]

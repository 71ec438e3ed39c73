"""Where the beginning of a prompt can come from, and how much of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from gemma_local.engine.cached import Cut, Wanted, best_cut
from gemma_local.engine.copies import Copies, Parked
from gemma_local.engine.runtime.context import Context
from gemma_local.engine.saved_states import SavedState, SavedStates
from gemma_local.engine.slot import Slot, reaches_back

LEAST_PARKED: Final = 128
"""Fewer tokens are read again rather than copied: they cost less than the memory is worth."""
WORTHWHILE: Final = 64
"""So many tokens must be saved more by fetching a copy than without."""


@dataclass(frozen=True, slots=True)
class Source:
    """How much of a prompt a place holds. ``is_busy``: a request runs there, so that it can only be
    copied from."""

    cut: Cut
    place: Slot | Parked | SavedState
    is_busy: bool = False

    @property
    def lost(self) -> int:
        """Tokens that are there and of no use to the prompt."""
        tokens = self.place.tokens if isinstance(self.place, SavedState) else self.place.cached
        return len(tokens) - self.cut.length

    def is_another(self, session: str) -> bool:
        """Whether this is another conversation that begins like ``session``'s prompt, rather than
        the same one gone on, edited or answered anew."""
        if self.is_busy:
            return True
        place = self.place if isinstance(self.place, SavedState) else self.place.cached
        is_foreign = place.session != session and self.lost >= LEAST_PARKED
        return is_foreign or self.lost > self.cut.length


class Beginnings:
    """Looks a prompt's beginning up in slots, in memory and on disk."""

    def __init__(self, context: Context, copies: Copies, saved: SavedStates | None) -> None:
        self._context = context
        self._window = context.model.n_swa
        self._copies = copies
        self._saved = saved

    def best(self, free: list[Slot], busy: list[Slot], wanted: Wanted) -> Source | None:
        """Where most of a prompt can come from; a copy only if that pays. None: from nowhere."""
        sources = self.in_slots(free, wanted)
        best = max(sources, key=lambda source: (source.cut.length, -source.lost), default=None)
        for copies in (self._in_busy(busy, wanted), self.parked(wanted), self._on_disk(wanted)):
            copy = max(copies, key=lambda source: source.cut.length, default=None)
            least = best.cut.length + WORTHWHILE if best is not None else 1
            if copy is not None and copy.cut.length >= least:
                best = copy
        return best

    def in_slots(self, slots: Iterable[Slot], wanted: Wanted) -> Iterator[Source]:
        """What each of these slots holds of a prompt."""
        for slot in slots:
            can_cut = partial(slot.can_cut, exact=wanted.exact)
            yield Source(slot.cached.cut(wanted, can_cut), slot)

    def _in_busy(self, slots: Iterable[Slot], wanted: Wanted) -> Iterator[Source]:
        for slot in slots:
            can_cut = partial(slot.can_copy, exact=wanted.exact)
            yield Source(slot.cached.cut(wanted, can_cut), slot, is_busy=True)

    def parked(self, wanted: Wanted) -> Iterator[Source]:
        """What each parked conversation holds of a prompt."""
        for parked in self._copies.parked:
            can_cut = partial(parked.can_cut, window=self._window, exact=wanted.exact)
            yield Source(parked.cached.cut(wanted, can_cut), parked)

    def _on_disk(self, wanted: Wanted) -> Iterator[Source]:
        for state in self._saved.entries() if self._saved else ():
            whole, *checkpoints = state.parts
            if whole.position >= self._context.options.context:
                continue
            limit = state.exact if wanted.exact else whole.position
            can_cut = partial(
                reaches_back, whole.first, whole.position, window=self._window, exact=wanted.exact
            )
            positions = [part.position for part in checkpoints]
            yield Source(best_cut(state.tokens, limit, positions, wanted, can_cut), state)

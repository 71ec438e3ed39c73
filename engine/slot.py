"""One sequence of the KV cache: what it holds, and in which cells.

The sliding window of a sequence is a ring of cells. Filled in order, position p lies in cell
(p - origin) % ring, and exactness relies on that: sums over the cells then run in the same order
whatever was drafted, as long as no pass crosses the ring's end. Cutting tokens off keeps the order
within one lap of the ring. Across its end llama.cpp goes on in the wrong cell (``seq_rm`` moves
the search for free cells to the first cell that became free, not to the oldest position); then the
window is copied out, put in order and copied back, which fills the ring from cell 0 anew.
"""

from __future__ import annotations

from array import array

import numpy as np

from gemma_local.engine.cached import Cached, Checkpoint, Cut
from gemma_local.engine.runtime.context import Bytes, Context, DecodeFailed
from gemma_local.engine.runtime.state import UnknownState, arrange
from gemma_local.engine.saved_states import Buffer
from gemma_local.engine.sequence import Sequence


class Slot:
    """A sequence of a context, with what is known about its cells.

    ``origin`` is the position that lay, or would have lain, in cell 0 when the ring was last filled
    anew, ``floor`` the oldest position then. Positions below ``reach`` have been computed since, if
    only to be thrown away: they took the cells of those a ring's length before. ``partings`` are
    where the prompt that is being read here parts from others, as far as that is of use.
    """

    def __init__(self, context: Context, number: int, ring: int) -> None:
        """``ring``: cells of the sliding window, 0 without one."""
        self.number = number
        self.cached = Cached()
        self._context = context
        self._window = context.model.n_swa
        self._ring = ring
        self.partings: set[int] = set()
        self._fill_anew(0, 0)

    def _fill_anew(self, first: int, length: int) -> None:
        self.origin = self.floor = first
        self.reach = length
        self.in_order = True

    # ----------------------------------------------------------------------------- what is there

    def can_cut(self, length: int, *, exact: bool) -> bool:
        """Whether tokens behind ``length`` can be cut off with the window before it still there.

        In exact mode the answer must not depend on how far drafts ran ahead: then it is worked out
        from ``reach``, which allows for the longest.
        """
        if exact and not self._context.can_arrange and not self._stays_in_order(length):
            return False
        if length == len(self.cached):
            return True
        if not self._window:
            return self._context.first_position(self.number) <= 0
        first = self._context.first_position(self.number)
        if exact:
            first = max(first, self.floor, self.reach - self._ring)
        return reaches_back(first, len(self.cached), length, self._window, exact=exact)

    def can_copy(self, length: int, *, exact: bool) -> bool:
        """Whether a copy of all that is held, more than ``cached`` by now if a request runs here,
        could be cut to ``length``."""
        held = self._context.last_position(self.number) + 1
        first = self._context.first_position(self.number)
        if not self._window:
            return length == held or first <= 0
        # Of the window no more is copied than the next token looks back to.
        first = max(first, held - self._window)
        reaches = reaches_back(first, held, length, self._window, exact=exact)
        return self._context.can_arrange and reaches

    def _stays_in_order(self, length: int) -> bool:
        if not self._ring:
            return True
        last = max(len(self.cached) - 1, length)
        return self.in_order and self._lap(length) == self._lap(last)

    def _lap(self, position: int) -> int:
        return (position - self.origin) // self._ring

    def outlasts(self, tokens: int) -> bool:
        """Whether the window now there can still be cut back to after so many more tokens."""
        oldest = max(0, len(self.cached) - self._window)
        end = max(self.reach, len(self.cached) + tokens)
        return not self._ring or max(self.floor, end - self._ring) <= oldest

    # ------------------------------------------------------------------------------------ change

    def note(self, sequence: Sequence, length: int) -> None:
        """Remember that the first ``length`` tokens of a sequence have been computed here."""
        cached = self.cached
        if length != len(cached):
            cached.tokens = array("i", sequence.tokens[:length])
            cached.is_saved = False
        if sequence.limits.are_exact:
            cached.exact = length
        else:
            self.in_order = False
        self.reach = max(self.reach, length)

    def keep(self, sequence: Sequence) -> None:
        """Remember what a sequence leaves behind that ends."""
        length = sequence.kept
        if length < sequence.pos:
            self._context.truncate(self.number, length)
        self.note(sequence, length)
        self.reach = max(self.reach, length + sequence.limits.rows)
        if self._context.last_position(self.number) + 1 != length:
            # What a pass left that failed, in a memory that cannot go back.
            self.clear()

    def clear(self) -> None:
        """Hold nothing."""
        self._context.truncate(self.number, 0)
        self.cached = Cached()
        self._fill_anew(0, 0)

    def cut(self, cut: Cut) -> bool:
        """Go back to a beginning of what is cached; False when that failed, and all is gone."""
        if not cut.length:
            self.clear()
            return True
        end = len(self.cached)
        if cut.checkpoint is not None:
            checkpoint = next(c for c in self.cached.checkpoints if c.position == cut.checkpoint)
            if not self._context.restore(self.number, checkpoint.state, window_only=True):
                return self._lose()
            self._fill_anew(checkpoint.first, checkpoint.position)
        elif cut.length < end:
            self.in_order = self._stays_in_order(cut.length)
        if cut.length < end and not self._context.truncate(self.number, cut.length):
            return self._lose()
        self.cached.keep(cut.length)
        return True

    def load(self, state: Bytes, first: int, cached: Cached, cut: Cut) -> bool:
        """Take over a state that was copied from a slot, and cut it; False when that failed."""
        self.clear()
        if not self._context.restore(self.number, state):
            return self._lose()
        # What a request has added since `cached` was noted.
        if not self._context.truncate(self.number, len(cached)):
            return self._lose()
        self.cached = cached
        self._fill_anew(first, len(cached))
        return self.cut(cut)

    def straighten(self) -> bool:
        """Put the window's cells in order if they are not; False when that failed."""
        if self.in_order or not self._ring:
            self.in_order = True
            return True
        checkpoint = self.checkpoint()
        restored = checkpoint is not None and self._context.restore(
            self.number, checkpoint.state, window_only=True
        )
        if checkpoint is None or not restored:
            return self._lose()
        self._fill_anew(checkpoint.first, checkpoint.position)
        return True

    def _lose(self) -> bool:
        self.clear()
        return False

    # ------------------------------------------------------------------------------------ copies

    def state_size(self, *, window_only: bool = False) -> int:
        """Bytes of a copy of what is held now."""
        return self._context.state_size(self.number, window_only=window_only)

    def checkpoint(self) -> Checkpoint | None:
        """A copy of the window, None when there can be none."""
        taken = self._copy(window_only=True)
        return taken and Checkpoint(len(self.cached), taken[1], taken[0])

    def state(self) -> tuple[Bytes, int] | None:
        """A copy of all and the window's oldest position in it, None when there can be none."""
        return self._copy(window_only=False)

    def _copy(self, *, window_only: bool) -> tuple[Bytes, int] | None:
        if not len(self.cached) or (self._window and not self._context.can_arrange):
            return None
        try:
            state = self._context.state(self.number, window_only=window_only)
            return state, arrange(state) if self._window else 0
        except (DecodeFailed, UnknownState, MemoryError):
            return None


def reaches_back(first: int, end: int, length: int, window: int, *, exact: bool) -> bool:
    """Whether a state of ``end`` tokens, with a window from ``first``, can be cut to ``length``.

    A token sees ``window`` positions, its own among them. In exact mode one more must be there: a
    copy of the window then always has the same size.
    """
    oldest = max(0, length - window + (0 if exact else 1))
    return length == end or not window or first <= oldest


def as_bytes(buffer: Buffer) -> Bytes:
    """A buffer as an array of bytes, without copying it."""
    return np.frombuffer(buffer, np.uint8)

"""Never reading a prompt twice.

A new request goes where most of its prompt has been read already: into a free slot's cache, into a
conversation that had to make room for another and was parked in ordinary memory, or into one that
was saved to disk. Whatever differs is cut off. That takes more than a common prefix: a
sliding-window cache has forgotten what lies more than a window back, so copies of the window,
checkpoints, are kept on the way. Without a sliding window nothing is forgotten, and none are taken.

Everything here depends on the requests alone and never on how far drafts ran ahead, so that exact
mode stays exact from one request to the next (see ``engine.exactness``).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from gemma_local.engine.cached import Cached, Checkpoint, Cut, best_cut, common_prefix
from gemma_local.engine.copies import Copies, Parked
from gemma_local.engine.messages import CacheUse
from gemma_local.engine.runtime.context import Context
from gemma_local.engine.saved_states import Part, SavedState, SavedStates, usage
from gemma_local.engine.sequence import Sequence
from gemma_local.engine.slot import Slot, as_bytes, reaches_back

LEAST_PARKED: Final = 128
"""Fewer tokens are read again rather than copied: they cost less than the memory is worth."""
WORTHWHILE: Final = 64
"""So many tokens must be saved more by fetching a copy than without."""
LEAST_SPACING: Final = 1024
"""Tokens between the checkpoints of a long prompt, more where they would fill half the budget."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where the beginning of a prompt can come from, and how much of it."""

    cut: Cut
    place: Slot | Parked | SavedState

    @property
    def lost(self) -> int:
        """Tokens that are there and of no use to the prompt."""
        tokens = self.place.tokens if isinstance(self.place, SavedState) else self.place.cached
        return len(tokens) - self.cut.length

    def is_another(self, session: str) -> bool:
        """Whether this is another conversation that begins like ``session``'s prompt, rather than
        the same one gone on, edited or answered anew."""
        place = self.place if isinstance(self.place, SavedState) else self.place.cached
        is_foreign = place.session != session and self.lost >= LEAST_PARKED
        return is_foreign or self.lost > self.cut.length


class PromptCache:
    """All that is cached of one pair: its slots, and copies in memory and on disk."""

    def __init__(
        self, context: Context, *, ring: int, budget: int, saved: SavedStates | None = None
    ) -> None:
        """``ring``: cells of a slot's sliding window, 0 without one. ``budget``: bytes that
        checkpoints and parked conversations may take together. While two conversations change
        places both exist for a moment."""
        self._context = context
        self._window = context.model.n_swa
        self._saved = saved
        self._slots = [Slot(context, i, ring) for i in range(context.options.sequences)]
        self._copies = Copies(budget, self._slots)
        self._uses = 0

    # ----------------------------------------------------------------------------------- requests

    def begin(
        self, tokens: list[int], session: str, free: Iterable[int], *, exact: bool, end: int
    ) -> Slot:
        """Choose one of the ``free`` slots for a prompt and make it hold as much as possible.

        The slot's ``cached`` tokens are then a beginning of ``tokens``, at least one shorter.
        ``end``: tokens that the request may have in the cache at most.
        """
        prompt = array("i", tokens)
        slots = [self._slots[i] for i in free]
        shared = max((common_prefix(held, prompt) for held in self._known_tokens()), default=0)
        slot = self._fill(slots, prompt, session, exact=exact)
        if exact:
            slot.straighten()
        self._touch(slot.cached)
        slot.cached.session = session or slot.cached.session
        self._checkpoint(slot, coming=end - len(slot.cached))
        # What begins alike twice, a system prompt, will do so again.
        slot.parting = shared if shared >= len(slot.cached) + WORTHWHILE else 0
        return slot

    def holds(self, tokens: list[int], *, exact: bool) -> bool:
        """Whether a prompt that begins with ``tokens`` would find all of them in memory."""
        prompt = array("i", tokens)
        sources = (
            *self._live_sources(self._slots, prompt, exact=exact),
            *self._parked_sources(prompt, exact=exact),
        )
        lengths = {
            common_prefix(held.tokens, prompt)
            for held, source in zip(self._copies.held, sources, strict=True)
            if source.cut.length == len(prompt) - 1
        }
        return len(prompt) in lengths

    def advance(self, sequence: Sequence, end: int) -> None:
        """A slice of a prompt was read: take a checkpoint where one may be of use."""
        slot = self._slots[sequence.slot]
        slot.note(sequence, sequence.pos)
        if sequence.is_finished:
            return
        if sequence.pos == slot.parting:
            self._checkpoint(slot)
        elif sequence.pos in sequence.partings:
            self._checkpoint(slot, coming=end - sequence.pos)
        elif sequence.to_prefill and sequence.pos < max(sequence.partings):
            self._checkpoint(slot, coming=0)

    def keep(self, sequence: Sequence) -> None:
        """A request ended: what it read and said is there for the next."""
        slot = self._slots[sequence.slot]
        if sequence.reason == "nan":
            # Whatever is not a number in there would be in every answer that builds on it.
            slot.clear()
        else:
            slot.keep(sequence)

    def forget(self) -> None:
        """Somebody else is going to use the slots: park what they hold, and empty them."""
        for slot in self._slots:
            self._park(slot)
            slot.clear()

    def save(self, busy: Iterable[int]) -> tuple[int, int]:
        """Write the conversations that have a name to disk, where they have changed since.

        Slots that are ``busy`` are left out: they would hold up an answer, and be out of date at
        once. Returns files and bytes written. Raises StatesUnusable.
        """
        if self._saved is None:
            return 0, 0
        left_out = set(busy)
        places: list[Slot | Parked] = [
            *(slot for slot in self._slots if slot.number not in left_out),
            *self._copies.parked,
        ]
        files = written = 0
        seen = {self._slots[i].cached.session for i in left_out}
        for place in sorted(places, key=lambda place: -place.cached.used):
            cached = place.cached
            if cached.session and cached.session not in seen and len(cached):
                seen.add(cached.session)
                size = 0 if cached.is_saved else self._write(place, self._saved)
                files += size > 0
                written += size
        return files, written

    @property
    def use(self) -> CacheUse:
        """What is kept now."""
        checkpoints, checkpoint_bytes = self._copies.checkpoints
        files, saved_bytes = usage(self._saved.folder) if self._saved else (0, 0)
        return CacheUse(
            tokens=sum(len(slot.cached) for slot in self._slots),
            checkpoints=checkpoints,
            checkpoint_bytes=checkpoint_bytes,
            parked=len(self._copies.parked),
            parked_bytes=self._copies.parked_bytes,
            saved=files,
            saved_bytes=saved_bytes,
        )

    # ------------------------------------------------------------------------------------ finding

    def _fill(self, slots: list[Slot], prompt: array[int], session: str, *, exact: bool) -> Slot:
        """Make one of ``slots`` hold a beginning of ``prompt``."""
        source = self._best_source(slots, prompt, exact=exact)
        is_another = source.is_another(session)
        if isinstance(source.place, Slot) and not is_another:
            source.place.cut(source.cut)
            return source.place
        # An empty one if there is, else the one that was not of use for longest.
        slot = min(slots, key=lambda slot: (len(slot.cached) > 0, slot.cached.used))
        if source.place is slot:
            # What is parked may be thinned, and the cut need a checkpoint that then is gone.
            cached = slot.cached.copy()
            self._park(slot)
            slot.cached = cached
            slot.cut(source.cut)
        elif source.cut.length < WORTHWHILE:
            self._park(slot)
            slot.clear()
        elif not self._fetch(source, slot, is_another=is_another):
            if isinstance(source.place, Slot):
                slot = source.place
                slot.cut(source.cut)
            else:
                # What could not be read after all is gone now.
                return self._fill(slots, prompt, session, exact=exact)
        if is_another:
            slot.cached.session = ""
        self._copies.make_room(0, slot.cached)
        return slot

    def _best_source(self, slots: list[Slot], prompt: array[int], *, exact: bool) -> Source:
        """Where most of a prompt can come from; a copy only if that pays."""

        live = self._live_sources(slots, prompt, exact=exact)
        best = max(live, key=lambda source: (source.cut.length, -source.lost))
        for copies in (
            self._parked_sources(prompt, exact=exact),
            self._saved_sources(prompt, exact=exact),
        ):
            copy = max(copies, key=lambda source: source.cut.length, default=best)
            if copy.cut.length >= best.cut.length + WORTHWHILE:
                best = copy
        return best

    def _live_sources(
        self, slots: list[Slot], prompt: array[int], *, exact: bool
    ) -> Iterator[Source]:
        for slot in slots:
            can_cut = partial(slot.can_cut, exact=exact)
            yield Source(slot.cached.cut(prompt, can_cut, exact=exact), slot)

    def _parked_sources(self, prompt: array[int], *, exact: bool) -> Iterator[Source]:
        for parked in self._copies.parked:
            can_cut = partial(parked.can_cut, window=self._window, exact=exact)
            yield Source(parked.cached.cut(prompt, can_cut, exact=exact), parked)

    def _saved_sources(self, prompt: array[int], *, exact: bool) -> Iterator[Source]:
        for state in self._saved.entries() if self._saved else ():
            whole, *checkpoints = state.parts
            if whole.position >= self._context.options.context:
                continue
            limit = state.exact if exact else whole.position
            can_cut = partial(
                reaches_back, whole.first, whole.position, window=self._window, exact=exact
            )
            positions = [part.position for part in checkpoints]
            yield Source(best_cut(state.tokens, limit, positions, prompt, can_cut), state)

    # ------------------------------------------------------------------------------------ copying

    def _park(self, slot: Slot) -> None:
        """Copy what a slot holds to memory, if it is worth it and fits."""
        cached = slot.cached
        if len(cached) < LEAST_PARKED or not self._copies.make_room(slot.state_size(), cached):
            return
        taken = slot.state()
        if taken is not None:
            self._copies.parked.append(Parked(cached.copy(), *taken))

    def _fetch(self, source: Source, slot: Slot, *, is_another: bool) -> bool:
        """Bring a copy into a slot, whose own conversation is parked; False when that failed."""
        place = source.place
        if isinstance(place, SavedState):
            fetched = self._read(place)
        elif isinstance(place, Parked):
            fetched = place
            self._copies.parked.remove(place)
        else:
            self._touch(place.cached)
            taken = place.state()
            fetched = taken and Parked(place.cached.copy(), *taken)
        if fetched is None:
            return False
        self._park(slot)
        loaded = slot.load(fetched.state, fetched.first, fetched.cached.copy(), source.cut)
        if not loaded and isinstance(place, SavedState) and self._saved:
            self._saved.discard(place)
        goes_on = isinstance(place, Parked) and is_another and loaded
        if goes_on and self._copies.make_room(fetched.state.size, slot.cached):
            self._copies.parked.append(fetched)
        return loaded

    def _read(self, state: SavedState) -> Parked | None:
        assert self._saved is not None
        data = self._saved.load(state)
        if data is None:
            return None
        whole, *checkpoints = (
            Checkpoint(part.position, part.first, as_bytes(held))
            for part, held in zip(state.parts, data, strict=True)
        )
        cached = Cached(state.tokens[:], state.exact, state.session, checkpoints, is_saved=True)
        return Parked(cached, whole.state, whole.first)

    def _write(self, place: Slot | Parked, saved: SavedStates) -> int:
        """Save a conversation; returns the file's bytes, 0 when it was not written."""
        cached = place.cached
        if isinstance(place, Slot):
            if not saved.has_room_for(place.state_size()):
                return 0
            taken = place.state()
            if taken is None:
                return 0
            state, first = taken
        else:
            state, first = place.state, place.first
        # Of the checkpoints the first, behind the system prompt, and those around the last answer.
        parts = [(Part(len(cached), first, state.size), state.data)]
        parts += [
            (Part(c.position, c.first, c.bytes), c.state.data)
            for c in (*cached.checkpoints[:-2][:1], *cached.checkpoints[-2:])
        ]
        size = saved.save(cached.session, cached.tokens, cached.exact, parts)
        cached.is_saved = size > 0
        return size

    # ------------------------------------------------------------------------------------- budget

    def _checkpoint(self, slot: Slot, *, coming: int | None = None) -> None:
        """Copy a slot's window where it stands, unless it will not be missed.

        ``coming``: tokens that the request may still add; 0 in the middle of a prompt, None where
        it surely will be missed.
        """
        cached = slot.cached
        held = cached.checkpoints
        since = len(cached) - (held[-1].position if held else 0)
        if not self._window or since == 0:
            return
        size = slot.state_size(window_only=True)
        is_near = since < self._spacing(size)
        if coming is not None and is_near and (not coming or slot.outlasts(coming)):
            return
        if self._copies.make_room(size, cached):
            checkpoint = slot.checkpoint()
            if checkpoint is not None:
                cached.checkpoints.append(checkpoint)

    def _spacing(self, size: int) -> int:
        context = self._context.options.context
        return max(LEAST_SPACING, 2 * context * size // max(self._copies.budget, 1))

    def _touch(self, cached: Cached) -> None:
        self._uses += 1
        cached.used = self._uses

    def _known_tokens(self) -> Iterator[array[int]]:
        yield from (held.tokens for held in self._copies.held)
        yield from (state.tokens for state in (self._saved.entries() if self._saved else ()))

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
from dataclasses import replace
from typing import Final

from gemma_local.engine.beginnings import LEAST_PARKED, WORTHWHILE, Beginnings, Source
from gemma_local.engine.cached import Cached, Checkpoint, Wanted, common_prefix
from gemma_local.engine.copies import Copies, Parked
from gemma_local.engine.messages import CacheUse
from gemma_local.engine.runtime.context import Context
from gemma_local.engine.saved_states import Part, SavedState, SavedStates, usage
from gemma_local.engine.sequence import Sequence
from gemma_local.engine.slot import Slot, as_bytes

LEAST_SPACING: Final = 1024
"""Tokens between the checkpoints of a long prompt, more where they would fill half the budget."""


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
        self._beginnings = Beginnings(context, self._copies, saved)
        self._uses = 0

    # ----------------------------------------------------------------------------------- requests

    def begin(self, wanted: Wanted, busy: Iterable[int]) -> Slot:
        """Choose a slot that is not ``busy`` for a prompt and make it hold as much as possible.

        The slot's ``cached`` tokens are then a beginning of the prompt, at least one shorter.
        """
        free, running = self._divided(busy)
        shared = max(
            (common_prefix(held, wanted.tokens) for held in self._known_tokens()), default=0
        )
        slot = self._fill(free, running, wanted)
        if wanted.exact:
            slot.straighten()
        self._touch(slot.cached)
        slot.cached.session = wanted.session or slot.cached.session
        self._checkpoint(slot, coming=wanted.longest - len(slot.cached))
        # What begins alike twice, a system prompt, will do so again.
        shared = wanted.on_grid(shared)
        slot.partings = {shared} if shared >= len(slot.cached) + WORTHWHILE else set()
        return slot

    def follows(self, wanted: Wanted, sequence: Sequence, busy: Iterable[int]) -> bool:
        """Whether a prompt had better wait until ``sequence`` has read what both begin with.

        If so, that place is remembered, so that it can be copied from there.
        """
        if wanted.exact and not sequence.limits.are_exact:
            return False
        shared = common_prefix(array("i", sequence.tokens), wanted.tokens)
        length = wanted.on_grid(min(shared, len(wanted) - 1))
        if sequence.pos >= length:
            return False
        free, running = self._divided(busy)
        others = [slot for slot in running if slot.number != sequence.slot]
        best = self._beginnings.best(free, others, wanted)
        if length < WORTHWHILE + (best.cut.length if best is not None else 0):
            return False
        parting = wanted.on_grid(shared)
        self._slots[sequence.slot].partings.add(parting)
        if parting not in sequence.partings:
            sequence.partings += (parting,)
        return True

    def _divided(self, busy: Iterable[int]) -> tuple[list[Slot], list[Slot]]:
        """The slots that are free and those where requests run."""
        taken = set(busy)
        free = [slot for slot in self._slots if slot.number not in taken]
        return free, [slot for slot in self._slots if slot.number in taken]

    def holds(self, wanted: Wanted) -> bool:
        """Whether a prompt that begins with these tokens would find all of them in memory."""
        wanted = replace(wanted, grid=1)
        sources = (
            *self._beginnings.in_slots(self._slots, wanted),
            *self._beginnings.parked(wanted),
        )
        lengths = {
            common_prefix(held.tokens, wanted.tokens)
            for held, source in zip(self._copies.held, sources, strict=True)
            if source.cut.length == len(wanted) - 1
        }
        return len(wanted) in lengths

    def advance(self, sequence: Sequence) -> None:
        """A slice of a prompt was read: take a checkpoint where one may be of use."""
        slot = self._slots[sequence.slot]
        slot.note(sequence, sequence.pos)
        if sequence.is_finished:
            return
        if sequence.pos in slot.partings:
            self._checkpoint(slot)
        elif sequence.pos in sequence.partings:
            self._checkpoint(slot, coming=sequence.longest - sequence.pos)
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

    def _fill(self, free: list[Slot], busy: list[Slot], wanted: Wanted) -> Slot:
        """Make one of the ``free`` slots hold a beginning of a prompt."""
        source = self._beginnings.best(free, busy, wanted)
        assert source is not None
        is_another = source.is_another(wanted.session)
        if isinstance(source.place, Slot) and not is_another:
            source.place.cut(source.cut)
            return source.place
        # An empty one if there is, else the one that was not of use for longest.
        slot = min(free, key=lambda slot: (len(slot.cached) > 0, slot.cached.used))
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
            if isinstance(source.place, Slot) and not source.is_busy:
                slot = source.place
                slot.cut(source.cut)
            else:
                # What could not be read after all is gone now, or not asked for again.
                return self._fill(free, [], wanted)
        if is_another:
            slot.cached.session = ""
        self._copies.make_room(0, slot.cached)
        return slot

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

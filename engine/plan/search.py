"""The best settings for a pair in the room there is, tried out with the footprint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from gemma_local.engine.commands import LOOKUP_MAX
from gemma_local.engine.memory import LEAST, checkpoint_budget
from gemma_local.engine.plan.candidate import Candidate
from gemma_local.engine.plan.room import Device, Room
from gemma_local.engine.plan.settings import Settings, Wishes, most_rows
from gemma_local.engine.plan.slices import batch_tokens, slice_tokens
from gemma_local.models.footprint import Footprint, KvType, pair_footprint

WANTED: Final = 32768
"""Tokens that a coding assistant's conversations fill; more only where it costs next to nothing."""
COMFORTABLE: Final = 8192
"""With less, an assistant forgets in the middle of its work."""
CONTEXTS: Final = (131072, 65536, WANTED, 24576, 16384, 12288, COMFORTABLE, 4096, 2048)
_KV: Final[tuple[KvType, ...]] = ("f16", "q8_0")
USUAL_DRAFT: Final = 3
_DEVICE_DRAFTS: Final = {"E2B": 2, "26B-A4B": 2}
_LOOKUP_SHARE: Final = 0.1
"""Of the memory that is left, what the rows of long drafts from the text may take."""
_DRAFT_MAX: Final = 8
"""``Load.draft_max``."""


@dataclass(frozen=True, slots=True)
class Fitting:
    """Settings that fit, and what they take. ``device`` is None where the CPU computes all;
    ``full``: everything is on it. ``share``: the part of the weights that is on devices."""

    settings: Settings
    device: Device | None
    footprint: Footprint
    full: bool
    share: float
    off_because: str = ""
    """Why drafting is off although there is a drafter."""


@dataclass(frozen=True, slots=True)
class Missing:
    """Nothing fits: by how many bytes, at the least that could be of use."""

    host: int
    device: int
    context: int

    @property
    def total(self) -> int:
        """All that is missing."""
        return self.host + self.device


Speed = Callable[[Fitting], float]
"""Expected tokens a second, to choose between a device in part and the CPU alone."""


def search(
    candidate: Candidate, room: Room, wishes: Wishes, threads: int, speed: Speed
) -> Fitting | Missing:
    """What suits best.

    All layers where they compute fastest, with a context of `WANTED` tokens or what fits down to
    `COMFORTABLE`, quantising the cache only if nothing else does it; then some layers on the
    device or none, whichever is faster; then less context.
    """
    return _Search(candidate, room, wishes, threads, speed).run()


def take(candidate: Candidate, settings: Settings, room: Room) -> Footprint:
    """What a pair takes with these settings; without drafts its drafter is not loaded."""
    drafter = candidate.drafter if settings.draft_max else None
    return pair_footprint(candidate.target, drafter, settings.use(room.rearranged))


class _Search:
    def __init__(
        self, candidate: Candidate, room: Room, wishes: Wishes, threads: int, speed: Speed
    ) -> None:
        self._candidate = candidate
        self._room = room
        self._wishes = wishes
        self._threads = threads
        self._speed = speed
        self._all = candidate.layers + 1
        self._kv = (wishes.kv_type,) if wishes.kv_type else _KV
        self._has_drafter = candidate.drafter is not None and wishes.draft != 0
        # A wish for drafts cannot be met without the drafter; else drafting only makes it faster.
        self._drafting = (True, False) if self._has_drafter else (False,)
        if wishes.draft:
            self._drafting = (True,)
        self._fewest: Missing | None = None

    def run(self) -> Fitting | Missing:
        """The steps of `search`, each tried only where all before failed."""
        large = [n for n in self._contexts() if n >= self._comfortable()]
        small = [n for n in self._contexts() if n < self._comfortable()]
        for contexts in (large, small):
            found = self._whole(contexts) or self._divided(contexts)
            if found is not None:
                return found
        assert self._fewest is not None
        return self._fewest

    def _contexts(self) -> list[int]:
        if self._wishes.context is not None:
            return [self._wishes.context]
        limit = self._candidate.context_limit
        known = sorted({min(n, limit) for n in CONTEXTS}, reverse=True)
        return known or [limit]

    def _comfortable(self) -> int:
        if self._wishes.context is not None:
            return self._wishes.context
        return min(COMFORTABLE, self._candidate.context_limit)

    def _whole(self, contexts: list[int]) -> Fitting | None:
        """Everything in one place; or as many layers on a device as were wished for."""
        for drafts in self._drafting:
            for kv in self._kv:
                for device, layers in self._places(self._wishes.gpu_layers):
                    for context in contexts:
                        found = self._try(kv, context, device, layers, drafts=drafts)
                        if found is not None and self._is_worth(found):
                            return found
        return None

    def _places(self, wished: int | None) -> list[tuple[Device | None, int]]:
        if wished == 0 or not self._room.devices:
            return [(None, 0)]
        layers = self._all if wished is None else min(wished, self._all)
        return [(device, layers) for device in self._room.devices]

    def _divided(self, contexts: list[int]) -> Fitting | None:
        """Some layers on a device or none, whichever is faster. The former in the least context:
        more would cost layers."""
        if self._wishes.gpu_layers is not None or not self._room.devices or not contexts:
            return None
        for kv in self._kv:
            choices: list[Fitting] = []
            on_cpu = (
                self._try(kv, n, None, 0, drafts=drafts)
                for drafts in self._drafting
                for n in contexts
                if n <= WANTED or self._wishes.context
            )
            first = next((found for found in on_cpu if found is not None), None)
            choices += [first] if first is not None else []
            for device in self._room.devices:
                found = self._most_layers(kv, min(contexts), device)
                choices += [found] if found is not None else []
            if choices:
                return max(choices, key=self._speed)
        return None

    def _most_layers(self, kv: KvType, context: int, device: Device) -> Fitting | None:
        """By halving: each layer takes more of the device."""
        drafts = bool(self._wishes.draft)
        low, high = 0, self._all
        while high - low > 1:
            middle = (low + high) // 2
            settings = self._settings(kv, context, device, middle, drafts=drafts)
            if self._over(settings, device)[1] > 0:
                high = middle
            else:
                low = middle
        return self._try(kv, context, device, low, drafts=drafts) if low else None

    def _try(
        self, kv: KvType, context: int, device: Device | None, layers: int, *, drafts: bool
    ) -> Fitting | None:
        """The settings with these, None if they do not fit."""
        full = device is None or layers >= self._all
        off = ""
        if drafts and not full and not self._wishes.draft:
            drafts = False
            off = "with a part of the layers on the device it crashed or was slower elsewhere"
        elif not drafts and self._has_drafter:
            off = "there is no memory left for the drafter"
            if not full:
                off = "with a part of the layers on the device it crashed or was slower elsewhere"
        settings = self._settings(kv, context, device, layers, drafts=drafts)
        over = self._over(settings, device)
        if max(over) > 0:
            self._note(over, context)
            return None
        return self._finish(settings, device, full, off)

    def _finish(self, settings: Settings, device: Device | None, full: bool, off: str) -> Fitting:
        taken = self._take(settings)
        left = self._room.host - taken.host
        if device is not None and device.is_integrated:
            left -= taken.device
        # What already counts for it is free as well.
        left += settings.cache_bytes
        settings = self._with_long_lookups(settings, left, device)
        cache = checkpoint_budget(self._candidate.window_bytes, left)
        settings = replace(settings, cache_bytes=cache)
        weights = sum(p.bytes for p in taken.parts if p.name == "weights" and p.where == "device")
        share = min(1.0, weights / max(self._candidate.matrix_bytes, 1))
        return Fitting(
            settings,
            device,
            self._take(settings),
            full,
            share,
            off,
        )

    def _with_long_lookups(self, settings: Settings, left: int, device: Device | None) -> Settings:
        """The same with long drafts from the text, where that takes little of what is ``left``."""
        longer = replace(settings, lookup_max=LOOKUP_MAX)
        before, after = self._take(settings), self._take(longer)
        more = after.host + after.device - before.host - before.device
        fits = settings.sequences == 1 and more <= left * _LOOKUP_SHARE
        return longer if fits and max(self._over(longer, device)) <= 0 else settings

    def _settings(
        self, kv: KvType, context: int, device: Device | None, layers: int, *, drafts: bool
    ) -> Settings:
        on_device = device is not None and layers > 0
        wishes, label = self._wishes, self._candidate.label
        draft = _DEVICE_DRAFTS.get(label, USUAL_DRAFT) if on_device else USUAL_DRAFT
        draft = draft if wishes.draft is None else wishes.draft
        longest = max(_DRAFT_MAX, draft) if wishes.draft_max is None else wishes.draft_max
        sequences = wishes.sequences or 1
        slices = slice_tokens(self._candidate.active_parameters, self._threads, on_gpu=on_device)
        return Settings(
            context=context,
            sequences=sequences,
            kv_type=kv,
            gpu_layers=layers,
            device=device.number if device is not None else None,
            drafter_device=device.drafter_number if device is not None else None,
            threads=self._threads,
            ubatch=batch_tokens(slices, sequences, most_rows(longest if drafts else 0, sequences)),
            draft=min(draft, longest) if drafts else 0,
            draft_max=longest if drafts else 0,
            cache_bytes=LEAST,
        )

    def _take(self, settings: Settings) -> Footprint:
        return take(self._candidate, settings, self._room)

    def _over(self, settings: Settings, device: Device | None) -> tuple[int, int]:
        """Bytes that memory and device lack; both at most 0 if it fits."""
        taken = self._take(settings)
        host, there = taken.host, taken.device
        if device is None:
            return host - self._room.host, 0
        if device.count > 1:
            # Each has intermediate results of its own, and layers are not divisible.
            layers = self._candidate.target.weights.layers
            compute = sum(
                p.bytes for p in taken.parts if p.name == "compute" and p.where == "device"
            )
            widest = max((layer.total for layer in layers), default=0)
            there += (device.count - 1) * (compute + widest)
        if device.is_integrated:
            # The same memory, counted once.
            host += there
        return host - self._room.host, there - device.room

    def _is_worth(self, found: Fitting) -> bool:
        """Whether a context is no more than is wanted, or costs next to nothing.

        That is where a device reads it fast and everything takes no more than half of the room.
        """
        if found.settings.context <= WANTED or self._wishes.context is not None:
            return True
        if found.device is None or found.share < 1 or found.settings.kv_type != "f16":
            return False
        host, device = found.footprint.host, found.footprint.device
        if found.device.is_integrated:
            host += device
        return 2 * host <= self._room.host and 2 * device <= found.device.room

    def _note(self, over: tuple[int, int], context: int) -> None:
        missing = Missing(max(over[0], 0), max(over[1], 0), context)
        if self._fewest is None or missing.total < self._fewest.total:
            self._fewest = missing

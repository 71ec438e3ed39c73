"""How a pair is loaded, and what a person wishes of it."""

from __future__ import annotations

from dataclasses import dataclass

from gemma_local.models.footprint import KvType, Use


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a person chose; None leaves it to the plan. ``gpu_layers`` counts as llama.cpp does:
    the output first, then the last layers; ``draft`` 0 is off."""

    context: int | None = None
    draft: int | None = None
    draft_max: int | None = None
    """The longest draft that will be asked for, where that is known."""
    gpu_layers: int | None = None
    threads: int | None = None
    sequences: int | None = None
    kv_type: KvType | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that loading a pair needs. ``context`` is tokens of each sequence, ``ubatch``
    tokens of a prefill slice, ``draft`` the length to start with, 0: no drafter is loaded.
    ``device`` is the number of the only accelerator to use, None: all, layer by layer;
    ``drafter_device`` that of the drafter, which must be where the last layers are.
    """

    context: int
    sequences: int
    kv_type: KvType
    gpu_layers: int
    device: int | None
    drafter_device: int | None
    threads: int
    ubatch: int
    draft: int
    draft_max: int
    cache_bytes: int

    def use(self, rearranged: frozenset[str]) -> Use:
        """The same for `footprint`."""
        return Use(
            context=self.context,
            sequences=self.sequences,
            kv_type=self.kv_type,
            ubatch=self.ubatch,
            # Exact mode pads passes to two blocks of four rows.
            rows=min(max(self.sequences * (self.draft_max + 1), 8), self.ubatch),
            gpu_layers=self.gpu_layers,
            threads=self.threads,
            rearranged=rearranged,
            cache_bytes=self.cache_bytes,
        )

"""How a pair is loaded, and what a person wishes of it."""

from __future__ import annotations

from dataclasses import dataclass

from gemma_local.engine.commands import USUAL_LOOKUP
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


def most_rows(draft_max: int, sequences: int, lookup: int = USUAL_LOOKUP) -> int:
    """Rows of each sequence in a verifying pass, at most.

    Exact mode fills up to two blocks of 4. A sequence that has the pass to itself may also check
    long drafts, up to ``lookup`` tokens, that were found in its text.
    """
    return max(draft_max + 1, 8, lookup_max(lookup, draft_max, sequences) + 1)


def lookup_max(wanted: int, draft_max: int, sequences: int) -> int:
    """Longest draft that is found in the text: as many rows as ``wanted`` would take for one of
    several sequences, all of them would have to have."""
    return wanted if sequences == 1 else min(wanted, max(draft_max, 7))


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that loading a pair needs. ``context`` is tokens of each sequence, ``ubatch`` the
    most of one decode call, usually a slice of a prompt, ``draft`` the length to start with, 0: no
    drafter is loaded. ``device`` is the number of the only accelerator to use, None: all, layer by
    layer; ``drafter_device`` that of the drafter, which must be where the last layers are.
    ``lookup_max`` is the longest draft from the text itself.
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
    lookup_max: int = USUAL_LOOKUP

    def use(self, rearranged: frozenset[str]) -> Use:
        """The same for `footprint`."""
        return Use(
            context=self.context,
            sequences=self.sequences,
            kv_type=self.kv_type,
            ubatch=self.ubatch,
            rows=min(self.sequences * self._rows, self.ubatch),
            gpu_layers=self.gpu_layers,
            threads=self.threads,
            rearranged=rearranged,
            cache_bytes=self.cache_bytes,
        )

    @property
    def _rows(self) -> int:
        return most_rows(self.draft_max, self.sequences, self.lookup_max)

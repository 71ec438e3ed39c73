"""Dimensions of the pocket pair, and of smaller ones to try and test things with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final


@dataclass(frozen=True, slots=True)
class TargetShape:
    """Dimensions of a target. Layers are sliding where ``sliding`` says so.

    ``shared``: so many of the last layers read the cache of the last two that own one.
    ``per_layer``: width of the per-layer embeddings, 0 for none. ``key_is_value``: full layers
    have no projection for values.
    """

    vocabulary: int
    width: int = 192
    feed_forward: int = 512
    sliding: tuple[bool, ...] = (True, False, True, False, True, False)
    heads: int = 6
    kv_heads: int = 2
    head_sliding: int = 32
    head_full: int = 64
    window: int = 128
    shared: int = 2
    per_layer: int = 16
    key_is_value: bool = False
    context: int = 8192
    softcap: float = 30.0

    def __post_init__(self) -> None:
        for last in (self.layers, self.layers - self.shared):
            if self.sliding[last - 2 : last] != (True, False):
                raise ValueError(f"layers {last - 2} and {last - 1} must be sliding and full")

    @property
    def layers(self) -> int:
        return len(self.sliding)

    def head(self, *, sliding: bool) -> int:
        """Width of a head."""
        return self.head_sliding if sliding else self.head_full

    def kv_source(self, layer: int) -> int:
        """The layer whose cache a layer reads: itself, or the last of its kind that owns one."""
        owned = self.layers - self.shared
        if layer < owned:
            return layer
        return owned - 2 if self.sliding[layer] else owned - 1


@dataclass(frozen=True, slots=True)
class DrafterShape:
    """Dimensions of a drafter; all that has to do with the cache is its target's."""

    width: int = 128
    feed_forward: int = 256
    sliding: tuple[bool, ...] = (True, True, True, False)
    heads: int = 4


POCKET_VOCABULARY: Final = 2560
POCKET: Final = TargetShape(POCKET_VOCABULARY)
POCKET_DRAFTER: Final = DrafterShape()

SMOKE: Final = replace(
    POCKET, width=96, feed_forward=128, sliding=(True, False, True, False), shared=0, heads=4
)
SMOKE_DRAFTER: Final = DrafterShape(width=64, feed_forward=96, sliding=(True, False))

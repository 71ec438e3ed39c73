"""Gemma 4's attention layers as a header describes them, for targets and drafters.

Sliding layers see a window and full layers see everything; the two kinds differ in head size and
in KV heads. The last ``attention.shared_kv_layers`` layers of a target own no KV cache: in
llama.cpp (``create_memory`` in ``src/llama-model.cpp``) a shared sliding layer reads the cache of
the second to last owning layer and a shared full layer that of the last one. The cache is viewed
with the reading layer's own head counts, so both must agree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gemma_local.models.metadata import Metadata

MAX_WINDOW = 1 << 24
"""Tokens; llama.cpp multiplies the window by the number of sequences in 32 bits."""


@dataclass(frozen=True, slots=True)
class KvGeometry:
    """The shape of one layer's part of the KV cache: a key and a value of this shape per token."""

    head_size: int
    kv_heads: int

    def __str__(self) -> str:
        heads = "head" if self.kv_heads == 1 else "heads"
        return f"{self.kv_heads} KV {heads} of {self.head_size}"


@dataclass(frozen=True, slots=True)
class AttentionLayers:
    """All layers in order; every tuple has one entry per layer."""

    sliding: tuple[bool, ...]
    window: int
    """Tokens that a sliding layer sees."""
    heads: tuple[int, ...]
    kv_heads: tuple[int, ...]
    full_head_size: int
    sliding_head_size: int
    owning: int
    """The first ``owning`` layers have a KV cache of their own."""

    def geometry(self, layer: int) -> KvGeometry:
        """What layer number ``layer`` stores, or reads if it stores nothing."""
        size = self.sliding_head_size if self.sliding[layer] else self.full_head_size
        return KvGeometry(size, self.kv_heads[layer])

    def window_bytes(self, element: int) -> int:
        """Bytes of one full window of keys and values, with ``element`` bytes a number."""
        owned = (self.geometry(i) for i in range(self.owning) if self.sliding[i])
        return self.window * sum(2 * kv.head_size * kv.kv_heads * element for kv in owned)

    def owned(self) -> tuple[tuple[bool, KvGeometry], ...]:
        """For each layer that has a cache: whether it is sliding, and what it stores."""
        return tuple((self.sliding[i], self.geometry(i)) for i in range(self.owning))

    def last_owned(self, *, sliding: bool) -> KvGeometry | None:
        """The geometry of the last layer of a kind that owns a KV cache."""
        for layer in range(self.owning - 1, -1, -1):
            if self.sliding[layer] is sliding:
                return self.geometry(layer)
        return None


def read_attention(meta: Metadata, blocks: int) -> AttentionLayers:
    """Read and check the layers of a ``gemma4`` or ``gemma4-assistant`` file.

    Raises:
        BadModelFile: something that makes llama.cpp abort (no sliding layer, query heads that KV
            heads do not divide, an odd or too wide rotation), throw, or compute NaN (no window).
    """
    sliding = meta.flags("attention.sliding_window_pattern", blocks)
    if not any(sliding):
        raise meta.bad("names no layer with a sliding window, which every Gemma 4 has")
    window = meta.integer("attention.sliding_window")
    if not 0 < window <= MAX_WINDOW:
        raise meta.bad(f"has a sliding window of {window} tokens")
    heads = meta.per_layer("attention.head_count", blocks)
    if not all(heads):
        raise meta.bad(f"has no attention heads in layer {heads.index(0)}")
    kv_heads = meta.per_layer("attention.head_count_kv", blocks, heads)
    for layer, (queries, keys) in enumerate(zip(heads, kv_heads, strict=True)):
        if keys == 0 or queries % keys:
            raise meta.bad(f"shares {keys} KV heads among {queries} heads in layer {layer}")
    full = _head_size(meta, "", meta.integer("embedding_length") // heads[0])
    narrow = _head_size(meta, "_swa", None)
    _check_rotation(meta, full, narrow)
    return AttentionLayers(sliding, window, heads, kv_heads, full, narrow, blocks)


def read_target_attention(meta: Metadata, blocks: int) -> AttentionLayers:
    """`read_attention` with the rules for the shared and the last layers of a target.

    Raises:
        BadModelFile: also where shared layers would read a cache of the other kind or of another
            shape, both of which make llama.cpp abort.
    """
    layers = read_attention(meta, blocks)
    shared = meta.integer("attention.shared_kv_layers", 0)
    # Also for models without shared layers: the reuse callback asserts it for every Gemma 4.
    if blocks - shared < 2:
        raise meta.bad(
            f"shares the KV cache of {shared} of its {blocks} layers; at least two must own one"
        )
    owning = blocks - shared
    layers = replace(layers, owning=owning)
    for layer in range(owning, blocks):
        source = owning - (2 if layers.sliding[layer] else 1)
        if layers.sliding[source] is not layers.sliding[layer]:
            raise meta.bad(
                f"lets layer {layer} ({_kind(layers, layer)}) reuse the KV cache of layer {source}"
                f" ({_kind(layers, source)})"
            )
        if layers.geometry(layer) != layers.geometry(source):
            raise meta.bad(
                f"lets layer {layer} ({layers.geometry(layer)}) reuse the KV cache of layer "
                f"{source} ({layers.geometry(source)})"
            )
    if layers.sliding[-2:] != (True, False):
        raise meta.bad(
            "does not end in a sliding and a full attention layer, as every Gemma 4 does"
        )
    return layers


def read_guest_kv(meta: Metadata, blocks: int, width: int) -> tuple[tuple[bool, KvGeometry], ...]:
    """What each layer of another architecture stores, by the keys that most of them have.

    Every layer counts as a full one, so a guest with sliding layers comes out too large rather
    than too small. Empty if the header does not tell.
    """
    heads = meta.get("attention.head_count_kv") or meta.get("attention.head_count")
    queries = meta.get("attention.head_count")
    counts = heads if isinstance(heads, tuple) else (heads,) * blocks
    most = max(queries) if isinstance(queries, tuple) and queries else queries
    size = meta.get("attention.key_length")
    if size is None and isinstance(most, int) and most > 0:
        size = width // most
    if not isinstance(size, int) or len(counts) != blocks:
        return ()
    return tuple(
        (False, KvGeometry(size, count)) for count in counts if isinstance(count, int) and count > 0
    )


def _head_size(meta: Metadata, suffix: str, default: int | None) -> int:
    key = meta.integer(f"attention.key_length{suffix}", default)
    value = meta.integer(f"attention.value_length{suffix}", default)
    if key != value:
        raise meta.bad(f"has keys of length {key} but values of length {value}{_swa(suffix)}")
    if key == 0:
        raise meta.bad(f"has keys of length 0{_swa(suffix)}")
    return key


def _check_rotation(meta: Metadata, full: int, narrow: int) -> None:
    # llama.cpp's defaults: the full layers rotate whole heads, the sliding ones as much as the
    # full ones, which is too much for their smaller heads if the key is left out.
    rotated = meta.integer("rope.dimension_count", full)
    rotated_swa = meta.integer("rope.dimension_count_swa", rotated)
    for count, size, suffix in ((rotated, full, ""), (rotated_swa, narrow, "_swa")):
        if count == 0 or count % 2 or count > size:
            raise meta.bad(f"rotates {count} of {size} numbers per head{_swa(suffix)}")


def _swa(suffix: str) -> str:
    return " in its sliding layers" if suffix else ""


def _kind(layers: AttentionLayers, layer: int) -> str:
    return "sliding" if layers.sliding[layer] else "full"

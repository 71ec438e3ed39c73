"""How large llama.cpp's compute buffer gets: the intermediate results of one decode call.

llama.cpp plans the buffer once for its longest decode call (``sched_reserve``) and reuses the room
of results that are no longer needed, so what counts is the moment at which most is alive. This adds
up the largest tensors of Gemma 4's graph (``src/models/gemma4.cpp``) at the three moments that can
be that one: inside attention, inside the feed-forward part, and when the logits are computed.

The planner leaves holes, so no sum is exact. Held against llama.cpp's own figure for the five
published sizes at contexts of 2k to 128k tokens, slices of 64 to 512, f16 and q8_0 caches and 1 to
4 sequences, the estimate is 0 to 9 % above it for targets and less than 0.3 MiB off for drafters.
``engine.measure`` has llama.cpp plan the real one without loading anything.
"""

from __future__ import annotations

from dataclasses import dataclass

from gemma_local.models.attention import AttentionLayers
from gemma_local.models.metadata import Metadata

FLOAT = 4
_MASK_ELEMENT = 2
"""With flash attention the mask is F16."""
_ROTATION_V = 64
"""Rows of the matrix that turns values before they are quantised (``build_input_v_rot``)."""


@dataclass(frozen=True, slots=True)
class GraphWidths:
    """Numbers per token of the largest tensors of a graph."""

    hidden: int
    feed_forward: int
    """Of the widest layer."""
    queries: int
    """Heads times head size of the widest layer."""
    keys: int
    """Keys and values of the widest layer together; 0 for a drafter, which has none."""
    per_layer: int = 0
    """Per-layer embeddings of all layers together."""
    experts_used: int = 0
    expert_feed_forward: int = 0
    inputs: int = 0
    """What a drafter takes: the target's embedding and hidden state together, before and after
    they are joined."""
    head_sizes: tuple[int, ...] = ()
    """Of the kinds of layers that have caches of their own size: sliding, full."""


@dataclass(frozen=True, slots=True)
class DecodeShape:
    """The longest decode call that a context is made for."""

    tokens: int
    outputs: int
    """Rows of logits."""
    masked_cells: int
    """Cells of one sequence's caches together, each cache once."""
    quantised_cache: bool


def read_graph_widths(
    meta: Metadata, blocks: int, hidden: int, attention: AttentionLayers | None
) -> GraphWidths:
    """The widths of a target.

    Args:
        meta: its metadata, which were checked before.
        blocks: number of layers.
        hidden: ``embedding_length``.
        attention: of a Gemma 4. For other architectures the usual keys are taken, and what is
            absent counts as the hidden width.
    """
    if attention is not None:
        layers = [(attention.heads[i], attention.geometry(i)) for i in range(blocks)]
        queries = max(heads * kv.head_size for heads, kv in layers)
        keys = max(2 * kv.kv_heads * kv.head_size for _, kv in layers)
        sizes: tuple[int, ...] = (attention.sliding_head_size, attention.full_head_size)
    else:
        queries, keys, sizes = hidden, 2 * hidden, ()
    return GraphWidths(
        hidden=hidden,
        feed_forward=_widest(meta, "feed_forward_length", blocks),
        queries=queries,
        keys=keys,
        per_layer=_widest(meta, "embedding_length_per_layer_input", blocks) * blocks,
        experts_used=_widest(meta, "expert_used_count", blocks),
        expert_feed_forward=_widest(meta, "expert_feed_forward_length", blocks),
        head_sizes=sizes,
    )


def read_drafter_widths(
    meta: Metadata, blocks: int, hidden: int, target_hidden: int, attention: AttentionLayers
) -> GraphWidths:
    """The widths of a ``gemma4-assistant``, which computes no keys and values."""
    return GraphWidths(
        hidden=hidden,
        feed_forward=_widest(meta, "feed_forward_length", blocks),
        queries=max(attention.heads[i] * attention.geometry(i).head_size for i in range(blocks)),
        keys=0,
        inputs=4 * target_hidden,
        head_sizes=(attention.sliding_head_size, attention.full_head_size),
    )


def compute_bytes(widths: GraphWidths, shape: DecodeShape, vocabulary: int) -> int:
    """Bytes of the compute buffer, estimated; ``vocabulary`` is the number of tokens."""
    w = widths
    # What a token has all through the layers: its per-layer inputs, twice while they are put in
    # another order, and the residual stream with what is about to be added to it.
    steady = w.per_layer + 3 * w.hidden
    again = max(w.per_layer, w.queries)
    # Gate, up, and their product, which ggml does not compute in place.
    dense = 3 * w.feed_forward + again
    experts = w.experts_used * (3 * w.expert_feed_forward + w.hidden) + w.hidden
    attention = 2 * w.queries + w.keys + w.per_layer
    layers = steady + max(dense, experts if w.experts_used else 0, attention, w.inputs)
    masks = _MASK_ELEMENT * shape.masked_cells * shape.tokens
    turning = _rotations(w.head_sizes) if shape.quantised_cache else 0
    # The activations of every token go out as well.
    logits = FLOAT * (shape.outputs * (vocabulary + w.hidden) + shape.tokens * w.hidden)
    return max(FLOAT * layers * shape.tokens + masks + turning, logits)


def _rotations(head_sizes: tuple[int, ...]) -> int:
    """Bytes of the matrices that a quantised cache turns keys and values with.

    ``build_input_k_rot`` in ``src/llama-kv-cache.cpp``: of each kind of layer one as large as the
    largest power of two that the head size is a multiple of, and one of 64 rows for the values.
    """
    total = 0
    for size in head_sizes:
        if size % _ROTATION_V == 0:
            total += (size & -size) ** 2 + _ROTATION_V**2
    return FLOAT * total


def _widest(meta: Metadata, key: str, blocks: int) -> int:
    value = meta.get(key)
    if isinstance(value, tuple) and len(value) == blocks:
        return max((item for item in value if isinstance(item, int)), default=0)
    return value if isinstance(value, int) else 0

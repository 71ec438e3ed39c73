"""The footprint of files that are not here yet, from the catalog alone: no network, no header.

Caches, buffers and the number of weights follow from the dimensions. What the catalog cannot know
is how a publisher spread the file's bytes over it: all matrices are taken to have the same number
of bits. For files in one format throughout, the QAT ones among them, the sum is within 1 % of what
the header gives, and what lies in main memory, on the device and spare within 3 % each. Of files
that keep some tensors in another format those three are off by as much as these tensors differ from
the mean. `footprint.footprint` of a header is exact; a request for
the first 16 MiB of a file brings it (`target.inspect_header`).
"""

from __future__ import annotations

from gemma_local.models.anatomy import Anatomy
from gemma_local.models.attention import KvGeometry
from gemma_local.models.catalog import DrafterFile, DrafterShape, Shape, Size, TargetFile
from gemma_local.models.compute_buffer import GraphWidths
from gemma_local.models.footprint import Footprint, Use, pair_footprint
from gemma_local.models.weight_bytes import Bulk, WeightBytes

_TOKEN = 23
_MERGE = 19
"""Bytes in a file's header for a token, with its type and score, and for a merge."""


def catalog_footprint(
    size: Size, target: TargetFile, use: Use, drafter: DrafterFile | None = None
) -> Footprint:
    """What a pair of the catalog takes when it is used so.

    Args:
        size: the size that both belong to.
        target: its file.
        use: as for `footprint.footprint`.
        drafter: None to run without one.
    """
    head = drafter_anatomy(size, drafter) if drafter is not None else None
    return pair_footprint(target_anatomy(size.shape, target), head, use)


def target_anatomy(shape: Shape, file: TargetFile) -> Anatomy:
    """What `footprint` needs to know of a target; the embedding serves as its output too."""
    counts = [_layer_weights(shape, layer) for layer in range(shape.layers)]
    embedding = shape.vocabulary * shape.width
    table = shape.vocabulary * shape.per_layer * shape.layers
    weights = _spread(file, shape, counts, embedding, table)
    kinds = [_geometry(shape, layer) for layer in range(shape.layers)]
    widths = GraphWidths(
        hidden=shape.width,
        feed_forward=max(shape.feed_forward, shape.shared_feed_forward),
        queries=shape.heads * max(kv.head_size for _, kv in kinds),
        keys=max(2 * kv.kv_heads * kv.head_size for _, kv in kinds),
        per_layer=shape.per_layer * shape.layers,
        experts_used=shape.experts_used,
        expert_feed_forward=shape.expert_feed_forward,
        head_sizes=(shape.head_size_sliding, shape.head_size_full),
    )
    owned = tuple(kinds[: shape.layers - shape.shared_kv_layers])
    return Anatomy(weights, widths, owned, shape.window, shape.vocabulary, shape.merges)


def drafter_anatomy(size: Size, file: DrafterFile) -> Anatomy:
    """The same of a drafter."""
    own, shape = size.drafter_shape, size.shape
    # The layers are like the target's last ones: the last is a full one.
    sizes = [shape.head_size_sliding] * (own.layers - 1) + [shape.head_size_full]
    counts = [2 * own.width * own.heads * head + 3 * own.width * own.feed_forward for head in sizes]
    counts[0] += 2 * shape.width * own.width
    after = shape.width * own.width
    weights = _spread(file, shape, counts, shape.vocabulary * own.width, 0, after)
    widths = _drafter_widths(own, shape, max(sizes))
    return Anatomy(weights, widths, (), shape.window, shape.vocabulary, shape.merges)


def _drafter_widths(own: DrafterShape, shape: Shape, head: int) -> GraphWidths:
    return GraphWidths(
        hidden=own.width,
        feed_forward=own.feed_forward,
        queries=own.heads * head,
        keys=0,
        inputs=4 * shape.width,
        head_sizes=(shape.head_size_sliding, shape.head_size_full),
    )


def _geometry(shape: Shape, layer: int) -> tuple[bool, KvGeometry]:
    if shape.is_sliding(layer):
        return True, KvGeometry(shape.head_size_sliding, shape.kv_heads_sliding)
    return False, KvGeometry(shape.head_size_full, shape.kv_heads_full)


def _layer_weights(shape: Shape, layer: int) -> int:
    """Number of weights in the matrices of a layer."""
    slides, kv = _geometry(shape, layer)
    shares = layer >= shape.layers - shape.shared_kv_layers
    total = 2 * shape.width * shape.heads * kv.head_size
    if not shares:
        matrices = 1 if shape.value_is_key and not slides else 2
        total += matrices * shape.width * kv.kv_heads * kv.head_size
    wide = shape.shared_feed_forward if shares and shape.shared_feed_forward else shape.feed_forward
    total += 3 * shape.width * wide
    total += shape.width * shape.experts * (1 + 3 * shape.expert_feed_forward)
    total += 2 * shape.width * shape.per_layer
    if layer == 0:
        # What makes all layers' per-layer inputs lies with the first one.
        total += shape.width * shape.per_layer * shape.layers
    return total


def _spread(
    file: TargetFile | DrafterFile,
    shape: Shape,
    layers: list[int],
    embedding: int,
    table: int,
    after: int = 0,
) -> WeightBytes:
    """The file's bytes, in shares by number of weights; ``after`` lies with the output."""
    header = _TOKEN * shape.vocabulary + _MERGE * shape.merges
    share = (file.length - header) / (sum(layers) + embedding + table + after)

    def bulk(count: int) -> Bulk:
        size = round(count * share)
        return Bulk(size, ((file.format, size),))

    return WeightBytes(
        layers=tuple(bulk(count) for count in layers),
        head=bulk(embedding + after),
        embedding=round(embedding * share),
        tied=True,
        per_layer_table=round(table * share),
    )

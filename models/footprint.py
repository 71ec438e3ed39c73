"""How many bytes a target and its drafter take, part by part, before anything is loaded.

Weights, KV cache and output rows are exact: they follow from the header and from how llama.cpp
sizes its buffers. The compute buffer is an estimate (see `compute_buffer`), and what llama.cpp and
this program keep besides is measured once and small.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from gemma_local.models.anatomy import Anatomy
from gemma_local.models.compute_buffer import FLOAT, DecodeShape, GraphWidths, compute_bytes
from gemma_local.models.drafter import DrafterFacts
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.rearrangement import USUAL
from gemma_local.models.target import TargetFacts

KvType: TypeAlias = Literal["f16", "bf16", "q8_0"]

Where: TypeAlias = Literal["memory", "mapped", "spare", "device"]
"""``memory`` is the process's own. ``mapped`` are pages of the file that every pass reads: without
them in memory, the disk sets the speed. ``spare`` are pages of the file that hardly anything reads
once it is loaded: they lie in the system's cache as long as nobody wants the room. ``device`` is
the GPU's memory."""

KV_NUMBER: Final[dict[str, tuple[int, int]]] = {"f16": (2, 1), "bf16": (2, 1), "q8_0": (34, 32)}
"""Bytes that so many numbers of a cache take."""

_PAD: Final = 256
"""Cells are allocated in multiples of this (``GGML_PAD`` in ``llama_context``)."""
DRAFTER_ROWS: Final = 8
"""The least that the drafter's context is made for; it takes one row per sequence."""
_TOKEN: Final = 140
_MERGE: Final = 130
"""Bytes in llama.cpp's tables for a token and for a merge of a vocabulary, measured on Gemma 4's:
92 to 96 MiB for each of the two models, and what allocating leaves behind."""
_CELL: Final = 64
"""Bytes beside keys and values for each cell: position, shift, set of sequences
(``llama-kv-cells.h``)."""
_CONTEXT: Final = 6 << 20
"""What a context keeps besides, nearly all of it its graphs; measured."""
_TILES: Final = FLOAT * (2 * 64 * 64 + 4 * 64 * 512)
"""Scratch of one thread in flash attention, heads of 512 (``GGML_OP_FLASH_ATTN_EXT`` in
``ggml_graph_plan``)."""


class UnknownFootprint(GemmaLocalError):
    """The header does not tell what a model's cache takes."""


@dataclass(frozen=True, slots=True)
class Use:
    """What a pair is to be loaded for. Lengths are in tokens, sizes in bytes."""

    context: int
    """Of each sequence."""
    sequences: int = 1
    kv_type: KvType = "f16"
    ubatch: int = 512
    """Tokens of the longest decode call."""
    rows: int = 4
    """Rows of it that logits are returned for, of all sequences together."""
    gpu_layers: int = 0
    """As llama.cpp counts: the first is the output, then come the last layers; below 0 all."""
    threads: int = 4
    rearranged: frozenset[str] = USUAL
    """Formats that this processor wants in another order; see `rearrangement`."""
    projector_bytes: int = 0
    """Size of the file that reads images and sound, if one is loaded."""
    cache_bytes: int = 0
    """What may be spent on checkpoints and parked conversations."""

    @classmethod
    def for_drafts(cls, context: int, draft_max: int, sequences: int = 1) -> Use:
        """The usual settings, with enough rows to verify drafts of ``draft_max`` tokens."""
        return cls(context, sequences, rows=sequences * (draft_max + 1))


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that takes memory."""

    name: str
    where: Where
    bytes: int
    meaning: str


@dataclass(frozen=True, slots=True)
class Footprint:
    """All parts, those of no bytes left out."""

    parts: tuple[Part, ...]

    def bytes_in(self, *where: Where) -> int:
        """The sum of the parts that lie in one of these places."""
        return sum(part.bytes for part in self.parts if part.where in where)

    def of(self, name: str) -> int:
        """The sum of the parts with this name."""
        return sum(part.bytes for part in self.parts if part.name == name)

    @property
    def host(self) -> int:
        """What must be in main memory for full speed."""
        return self.bytes_in("memory", "mapped")

    @property
    def device(self) -> int:
        """What lies in the GPU's memory."""
        return self.bytes_in("device")

    @property
    def total(self) -> int:
        """What must be in memory anywhere; on machines where CPU and GPU share it, all of it."""
        return self.host + self.device


def footprint(target: TargetFacts, drafter: DrafterFacts | None, use: Use) -> Footprint:
    """What a pair takes when it is used so.

    Raises:
        UnknownFootprint: a guest whose header does not say how large its cache gets.
    """
    if not target.anatomy.kv_layers:
        raise UnknownFootprint(
            f"{target.path.name} does not say how large its KV cache gets, so the memory that it "
            "needs cannot be told before it is loaded. Load it with a small --ctx first."
        )
    return pair_footprint(target.anatomy, drafter.anatomy if drafter else None, use)


def pair_footprint(target: Anatomy, drafter: Anatomy | None, use: Use) -> Footprint:
    """`footprint` from what both have of it."""
    ubatch = min(use.ubatch, use.context * use.sequences)
    full, sliding = full_cells(use), sliding_cells(use, target.window) if target.window else 0
    caches = full + sliding
    shape = DecodeShape(ubatch, min(use.rows, ubatch), caches, use.kv_type == "q8_0")
    parts = [
        *_weights(target, use, ""),
        *_caches(target, use, full, sliding),
        *_buffers(target, use, shape, "", target.widths.hidden * ubatch if drafter else 0),
        *_tables(target, "", _CONTEXT + _CELL * caches * use.sequences),
    ]
    if drafter is not None:
        rows = use.sequences
        draft = DecodeShape(max(rows, DRAFTER_ROWS), rows, caches, use.kv_type == "q8_0")
        parts += [
            *_weights(drafter, use, "drafter "),
            *_buffers(drafter, use, draft, "drafter ", target.widths.hidden * rows),
            *_tables(drafter, "drafter ", _CONTEXT // 4),
        ]
    place: Where = "device" if use.gpu_layers else "memory"
    parts.append(Part("projector", place, use.projector_bytes, "reads images and sound"))
    parts.append(Part("checkpoints", "memory", use.cache_bytes, "lets prompts be read only once"))
    return Footprint(tuple(part for part in parts if part.bytes))


def full_cells(use: Use) -> int:
    """Cells of one sequence in the cache of the layers that see everything."""
    return _padded(_padded(use.context * use.sequences) // use.sequences)


def sliding_cells(use: Use, window: int) -> int:
    """Cells of one sequence in the cache of the sliding layers (``llama-kv-cache-iswa.cpp``)."""
    ubatch = min(use.ubatch, use.context * use.sequences)
    return _padded(min(full_cells(use), window + ubatch))


def _padded(cells: int) -> int:
    return -(-cells // _PAD) * _PAD


def _on_device(layers: int, use: Use) -> range:
    """The layers on the GPU; ``layers`` itself stands for the output."""
    wanted = use.gpu_layers if use.gpu_layers >= 0 else layers + 1
    return range(max(layers + 1 - wanted, 0), layers + 1)


def _weights(model: Anatomy, use: Use, whose: str) -> Iterator[Part]:
    weights = model.weights
    count = len(weights.layers)
    there = _on_device(count, use)
    bulks = [*weights.layers, weights.head]
    device = sum(bulks[i].total for i in there)
    here = [bulk for i, bulk in enumerate(bulks) if i not in there]
    own = sum(bulk.rearranged(use.rearranged) for bulk in here)
    mapped = sum(bulk.total for bulk in here) - own
    # A tied embedding that stays in main memory is already counted as the output.
    spare = 0 if weights.tied and count not in there else weights.embedding
    name = f"{whose}weights"
    yield Part(name, "device", device, "layers and output on the GPU")
    yield Part(name, "mapped", mapped, "read from the file in every pass")
    yield Part(name, "memory", own, "copied into the order that this processor wants")
    yield Part(name, "spare", own + spare, "what was copied, and embeddings read row by row")
    table = weights.per_layer_table
    yield Part(f"{whose}per-layer table", "spare", table, "embeddings of the layers, read by rows")


def _caches(target: Anatomy, use: Use, full: int, sliding: int) -> Iterator[Part]:
    there = _on_device(len(target.weights.layers), use)
    size, numbers = KV_NUMBER[use.kv_type]
    sums: dict[tuple[bool, Where], int] = {}
    for layer, (slides, kv) in enumerate(target.kv_layers):
        cells = (sliding if slides else full) * use.sequences
        key: tuple[bool, Where] = slides, "device" if layer in there else "memory"
        taken = 2 * kv.head_size * kv.kv_heads * cells * size // numbers
        sums[key] = sums.get(key, 0) + taken
    for (slides, where), taken in sums.items():
        kind = "sliding" if slides else "full"
        seen = "the window" if slides else "all tokens"
        yield Part(f"{kind} cache", where, taken, f"keys and values of {seen}")


def _buffers(
    model: Anatomy, use: Use, shape: DecodeShape, whose: str, activations: int
) -> Iterator[Part]:
    """Output rows with ``activations`` numbers beside them, results in between, scratch."""
    rows = max(shape.outputs, use.sequences)
    output = FLOAT * (rows * model.vocabulary + activations)
    yield Part(f"{whose}output", "memory", output, "logits, and activations for the drafter")
    name, meaning = f"{whose}compute", "intermediate results, estimated"
    whole = compute_bytes(model.widths, shape, model.vocabulary)
    there = len(_on_device(len(model.weights.layers), use))
    if there:
        yield Part(name, "device", whole, meaning)
    if there > len(model.weights.layers):
        # The embeddings are looked up in main memory, and masks are made there.
        inputs = FLOAT * (model.widths.hidden + model.widths.per_layer) * shape.tokens
        masks = 2 * shape.masked_cells * shape.tokens
        yield Part(name, "memory", inputs + masks, "what is handed over to the GPU, estimated")
        return
    yield Part(name, "memory", whole, meaning)
    scratch = _scratch(model.widths, shape.tokens) + use.threads * _TILES
    yield Part(f"{whose}scratch", "memory", scratch, "rows quantised for products, estimated")


def _scratch(widths: GraphWidths, tokens: int) -> int:
    """The rows that the widest matrix is multiplied with, as Q8_0 (``ggml_graph_plan``)."""
    experts = widths.experts_used * widths.expert_feed_forward
    widest = max(widths.feed_forward, widths.queries, widths.hidden, widths.inputs // 2, experts)
    return widest * tokens * 34 // 32


def _tables(model: Anatomy, whose: str, context: int) -> Iterator[Part]:
    tokenizer = _TOKEN * model.vocabulary + _MERGE * model.merges
    yield Part(f"{whose}tokenizer", "memory", tokenizer, "llama.cpp's tables of tokens and merges")
    yield Part(f"{whose}bookkeeping", "memory", context, "graphs, and what each cell holds")

"""What memory a model takes follows from these few numbers of its header."""

from __future__ import annotations

from dataclasses import dataclass

from gemma_local.models.attention import KvGeometry
from gemma_local.models.compute_buffer import GraphWidths
from gemma_local.models.metadata import Metadata
from gemma_local.models.weight_bytes import WeightBytes


@dataclass(frozen=True, slots=True)
class Anatomy:
    """The parts of a model that memory is needed for."""

    weights: WeightBytes
    widths: GraphWidths
    kv_layers: tuple[tuple[bool, KvGeometry], ...]
    """The layers from the first on that own a KV cache: whether each is sliding, and its shape.
    Empty for drafters, and where a header does not tell."""
    window: int
    """Tokens that a sliding layer sees; 0 without one."""
    vocabulary: int
    """Number of tokens."""
    merges: int
    """Number of the tokenizer's merges."""


def count_merges(meta: Metadata) -> int:
    """Length of ``tokenizer.ggml.merges``, 0 without."""
    merges = meta.file.metadata.get("tokenizer.ggml.merges")
    return 0 if isinstance(merges, (bool, int, float, str)) or merges is None else len(merges)

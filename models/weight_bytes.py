"""Where the bytes of a model's weights belong: layer by layer, tables and output apart.

llama.cpp places whole layers, the token embedding and the output (``load_tensors`` in
``src/llama-model.cpp``), so this is as fine as a plan for memory has to be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gemma_local.models.gguf import TensorInfo
from gemma_local.models.weights import OUTPUT, PER_LAYER_TABLE, TOKEN_EMBEDDING

_GROUP = 8
"""Rows that the CPU backend interleaves; a matrix of another height stays as it is."""
_HEAD = ("output_norm", "nextn.post_projection", "rope_freqs", "masked_embd_")
"""Beginnings of what lies with the output. The factors of the rotation go to a layer; they take
some hundred bytes. The centroids of a drafter are loaded although nothing reads them."""


@dataclass(frozen=True, slots=True)
class Bulk:
    """Bytes of some tensors."""

    total: int = 0
    matrices: tuple[tuple[str, int], ...] = ()
    """Of those, by format, what a processor may want in another order; see `rearranged`."""

    def rearranged(self, formats: frozenset[str]) -> int:
        """Bytes of the matrices in one of ``formats``."""
        return sum(size for name, size in self.matrices if name in formats)


@dataclass(frozen=True, slots=True)
class WeightBytes:
    """The tensors of all shards of one model."""

    layers: tuple[Bulk, ...]
    head: Bulk
    """The output matrix and what lies with it. With tied weights the matrix is the embedding."""
    embedding: int
    """The token embedding, of which a pass reads one row per token, if it is not the output too."""
    tied: bool
    """Whether the file holds no output matrix of its own."""
    per_layer_table: int
    """The per-layer embeddings of E2B and E4B, read row by row; 0 for others."""

    @property
    def stored(self) -> int:
        """Bytes of tensor data in the file."""
        twice = self.embedding if self.tied else 0
        rest = self.head.total + self.embedding + self.per_layer_table - twice
        return sum(layer.total for layer in self.layers) + rest


def measure_weights(tensors: Mapping[str, TensorInfo], blocks: int) -> WeightBytes:
    """Sum up a tensor table.

    Args:
        tensors: by name, of all shards; the token embedding is among them.
        blocks: number of layers. What belongs to no layer counts for the first one, where
            llama.cpp puts it.
    """
    layers: list[list[TensorInfo]] = [[] for _ in range(blocks)]
    head: list[TensorInfo] = []
    for tensor in tensors.values():
        if tensor.name in (TOKEN_EMBEDDING, PER_LAYER_TABLE):
            continue
        if tensor.name == OUTPUT or tensor.name.startswith(_HEAD):
            head.append(tensor)
        else:
            layers[_layer_of(tensor.name, blocks)].append(tensor)
    embedding = tensors[TOKEN_EMBEDDING]
    tied = OUTPUT not in tensors
    if tied:
        head.append(embedding)
    table = tensors.get(PER_LAYER_TABLE)
    return WeightBytes(
        layers=tuple(_bulk(layer) for layer in layers),
        head=_bulk(head),
        embedding=embedding.nbytes,
        tied=tied,
        per_layer_table=table.nbytes if table else 0,
    )


def _layer_of(name: str, blocks: int) -> int:
    _, _, rest = name.partition("blk.")
    number = rest.partition(".")[0]
    return min(int(number), blocks - 1) if number.isdecimal() else 0


def _bulk(tensors: Iterable[TensorInfo]) -> Bulk:
    total = 0
    matrices: Counter[str] = Counter()
    for tensor in tensors:
        total += tensor.nbytes
        rows = tensor.shape[1] if len(tensor.shape) in (2, 3) else 1
        if rows > 1 and rows % _GROUP == 0:
            matrices[tensor.type_name] += tensor.nbytes
    return Bulk(total, tuple(sorted(matrices.items())))

"""The drafter: the small model that guesses the target's next tokens (``gemma4-assistant``).

Google publishes one MTP drafter per Gemma 4 size. Its few layers have no KV cache: they read the
target's last sliding and last full layer, and its input is the target's hidden state, so its
numbers only mean something next to a target's; `pair.check_pair` compares them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from gemma_local.models.anatomy import Anatomy, count_merges
from gemma_local.models.architecture import read_drafter_metadata
from gemma_local.models.attention import KvGeometry, read_attention
from gemma_local.models.compute_buffer import read_drafter_widths
from gemma_local.models.gguf import GgufFile, read_gguf, read_shards
from gemma_local.models.hyperparameters import (
    check_numerics,
    check_rope_scaling,
    read_block_count,
    read_expert_count,
    read_positive,
)
from gemma_local.models.partial_header import Beginning, read_beginning
from gemma_local.models.target import SIZE_LABELS, embedding_rows, model_name
from gemma_local.models.vocabulary import read_drafter_vocabulary
from gemma_local.models.weight_bytes import measure_weights
from gemma_local.models.weights import (
    check_any_tensors,
    check_drafter_tensors,
    summarise_weights,
)


@dataclass(frozen=True, slots=True)
class DrafterFacts:
    """What the header of an admitted drafter says. Lengths are in tokens, sizes in bytes."""

    path: Path
    architecture: str
    name: str
    size_label: str
    """The published size it drafts for, such as ``E2B``; empty for any other width."""
    block_count: int
    embedding_length: int
    target_embedding_length: int
    """``embedding_length_out``: the width of the target whose hidden state it takes."""
    context_length: int
    vocab_size: int
    token_digest: str
    """As `target.TargetFacts.token_digest`; empty if the file carries no token list."""
    sliding_window: int
    kv_layers: tuple[tuple[bool, KvGeometry], ...]
    """For each layer: whether it is sliding, and the shape of the target's cache it reads."""
    quantisation: str
    matrix_types: frozenset[str]
    parameter_count: int
    file_size: int
    anatomy: Anatomy
    """What `footprint.footprint` needs to know of it."""


def inspect_drafter(path: str | os.PathLike[str]) -> DrafterFacts:
    """Read the header of a drafter and decide whether llama.cpp may have it.

    Raises:
        BadModelFile: with what is wrong and what to do.
    """
    file = read_gguf(path)
    return _facts(file, read_shards(file))


def inspect_drafter_header(data: Beginning, size: int, name: str = "drafter.gguf") -> DrafterFacts:
    """`inspect_drafter` for a file of which only the beginning is at hand.

    Arguments and errors as for `target.inspect_header`.
    """
    file = read_beginning(data, size, name)
    return _facts(file, (file,))


def _facts(file: GgufFile, shards: tuple[GgufFile, ...]) -> DrafterFacts:
    meta = read_drafter_metadata(file)
    tensors = {name: info for shard in shards for name, info in shard.tensors.items()}
    blocks = read_block_count(meta)
    predicting = meta.integer("nextn_predict_layers", 0)
    if predicting != blocks:
        raise meta.bad(f"has {blocks} layers of which {predicting} predict, where all must")
    width = read_positive(meta, "embedding_length")
    target_width = read_positive(meta, "embedding_length_out")
    if target_width == width:
        raise meta.bad(
            f"gives its own width {width} as its target's, so it cannot be told what it fits"
        )
    context = read_positive(meta, "context_length")
    read_expert_count(meta, blocks)
    check_rope_scaling(meta)
    check_numerics(meta)
    if not all(meta.per_layer("feed_forward_length", blocks)):
        raise meta.bad("has a layer without a feed-forward part")
    attention = read_attention(meta, blocks)
    check_any_tensors(meta, tensors)
    check_drafter_tensors(meta, tensors, attention)
    vocabulary = read_drafter_vocabulary(meta, embedding_rows(meta, tensors))
    weights = summarise_weights(tensors)
    labels = {size_width: label for (_, size_width), label in SIZE_LABELS.items()}
    return DrafterFacts(
        path=file.path,
        architecture=meta.architecture,
        name=model_name(meta),
        size_label=labels.get(target_width, ""),
        block_count=blocks,
        embedding_length=width,
        target_embedding_length=target_width,
        context_length=context,
        vocab_size=vocabulary.size,
        token_digest=vocabulary.digest,
        sliding_window=attention.window,
        kv_layers=tuple((attention.sliding[i], attention.geometry(i)) for i in range(blocks)),
        quantisation=weights.quantisation,
        matrix_types=weights.matrix_types,
        parameter_count=weights.parameter_count,
        file_size=sum(shard.file_size for shard in shards),
        anatomy=Anatomy(
            weights=measure_weights(tensors, blocks),
            widths=read_drafter_widths(meta, blocks, width, target_width, attention),
            kv_layers=(),
            window=attention.window,
            vocabulary=vocabulary.size,
            merges=count_merges(meta),
        ),
    )

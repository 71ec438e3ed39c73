"""The target: the model that answers. Whether a file can be one, and what its header tells.

`inspect_target` reads a header and refuses, with a sentence, what would end the process inside
llama.cpp or load and then talk nonsense. What it cannot see is damage inside the weights.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from gemma_local.models.anatomy import Anatomy, count_merges
from gemma_local.models.architecture import GEMMA4, read_target_metadata
from gemma_local.models.attention import (
    AttentionLayers,
    KvGeometry,
    read_guest_kv,
    read_target_attention,
)
from gemma_local.models.compute_buffer import read_graph_widths
from gemma_local.models.gguf import GgufFile, TensorInfo, read_gguf, read_shards
from gemma_local.models.hyperparameters import (
    check_numerics,
    check_rope_scaling,
    read_block_count,
    read_expert_count,
    read_positive,
)
from gemma_local.models.metadata import Metadata
from gemma_local.models.partial_header import Beginning, read_beginning
from gemma_local.models.vocabulary import read_vocabulary
from gemma_local.models.weight_bytes import measure_weights
from gemma_local.models.weights import (
    TOKEN_EMBEDDING,
    check_any_tensors,
    check_target_tensors,
    summarise_weights,
)

SIZE_LABELS: dict[tuple[int, int], str] = {
    (35, 1536): "E2B",
    (42, 2560): "E4B",
    (48, 3840): "12B",
    (30, 2816): "26B-A4B",
    (60, 5376): "31B",
}
"""Layers and width of the published Gemma 4 models."""


@dataclass(frozen=True, slots=True)
class TargetFacts:
    """What the header of an admitted target says. Lengths are in tokens, sizes in bytes."""

    path: Path
    architecture: str
    is_gemma4: bool
    name: str
    size_label: str
    """``E2B``, ``E4B``, ``12B``, ``26B-A4B``, ``31B``, or empty for any other shape."""
    block_count: int
    embedding_length: int
    context_length: int
    """As in the file; early conversions of 12B say 131072 where the model can do 262144."""
    vocab_size: int
    token_digest: str
    """Equal for two files with the same token texts; see `vocabulary.Vocabulary`."""
    tokenizer_model: str
    sliding_window: int
    """0 for other architectures that have none."""
    attention: AttentionLayers | None
    """Layer by layer; only for Gemma 4."""
    sliding_kv: KvGeometry | None
    """KV cache of the last sliding layer that owns one; only for Gemma 4."""
    full_kv: KvGeometry | None
    """KV cache of the last full layer that owns one; only for Gemma 4."""
    has_per_layer_embeddings: bool
    expert_count: int
    chat_template: str | None
    quantisation: str
    """The format of most weights, such as ``Q4_0``."""
    matrix_types: frozenset[str]
    """Formats of all matrices that inputs are multiplied with."""
    float_matrix: bool
    """Whether some of them are F32, F16 or BF16."""
    parameter_count: int
    active_parameters: int
    """Of those, what one token is multiplied with; see `weights.Weights`."""
    file_size: int
    """Of all shards together."""
    anatomy: Anatomy
    """What `footprint.footprint` needs to know of it."""


def inspect_target(path: str | os.PathLike[str]) -> TargetFacts:
    """Read the header of a model and decide whether llama.cpp may have it.

    Args:
        path: a ``.gguf`` file, the first one of a split model.

    Raises:
        BadModelFile: with what is wrong and what to do.
    """
    file = read_gguf(path)
    return _facts(file, read_shards(file))


def inspect_header(data: Beginning, size: int, name: str = "model.gguf") -> TargetFacts:
    """`inspect_target` for a file of which only the beginning is at hand.

    A request for the first bytes suffices to know a model before it is downloaded. Headers of
    Gemma 4 take about 16 MB, nearly all of it vocabulary.

    Args:
        data: the file's first bytes, or a path to a file that holds them.
        size: length of the whole file in bytes.
        name: what to call the file in sentences about it.

    Raises:
        HeaderIncomplete: there are not enough bytes yet; ``needed`` says how many to bring.
        BadModelFile: as for `inspect_target`; also for a part of a split model.
    """
    file = read_beginning(data, size, name)
    return _facts(file, (file,))


def _facts(file: GgufFile, shards: tuple[GgufFile, ...]) -> TargetFacts:
    meta = read_target_metadata(file)
    tensors = {name: info for shard in shards for name, info in shard.tensors.items()}
    blocks = read_block_count(meta)
    width = read_positive(meta, "embedding_length")
    context = read_positive(meta, "context_length")
    experts = read_expert_count(meta, blocks)
    check_rope_scaling(meta)
    check_any_tensors(meta, tensors)
    vocabulary = read_vocabulary(meta, embedding_rows(meta, tensors))
    is_gemma4 = meta.architecture == GEMMA4
    attention = _read_gemma4(meta, blocks, width, tensors) if is_gemma4 else None
    used = max(meta.per_layer("expert_used_count", blocks, (0,) * blocks))
    weights = summarise_weights(tensors, expert_share=used / experts if experts else 1.0)
    window = meta.get("attention.sliding_window")
    window = window if isinstance(window, int) else 0
    anatomy = Anatomy(
        weights=measure_weights(tensors, blocks),
        widths=read_graph_widths(meta, blocks, width, attention),
        kv_layers=attention.owned() if attention else read_guest_kv(meta, blocks, width),
        window=window,
        vocabulary=vocabulary.size,
        merges=count_merges(meta),
    )
    return TargetFacts(
        path=file.path,
        architecture=meta.architecture,
        is_gemma4=is_gemma4,
        name=model_name(meta),
        size_label=SIZE_LABELS.get((blocks, width), "") if is_gemma4 else "",
        block_count=blocks,
        embedding_length=width,
        context_length=context,
        vocab_size=vocabulary.size,
        token_digest=vocabulary.digest,
        tokenizer_model=vocabulary.model,
        sliding_window=window,
        attention=attention,
        sliding_kv=attention.last_owned(sliding=True) if attention else None,
        full_kv=attention.last_owned(sliding=False) if attention else None,
        has_per_layer_embeddings=_per_layer_width(meta) > 0,
        expert_count=experts,
        chat_template=meta.text("tokenizer.chat_template"),
        quantisation=weights.quantisation,
        matrix_types=weights.matrix_types,
        float_matrix=weights.float_matrix,
        parameter_count=weights.parameter_count,
        active_parameters=weights.active_parameters,
        file_size=sum(shard.file_size for shard in shards),
        anatomy=anatomy,
    )


def model_name(meta: Metadata) -> str:
    """``general.name``, or the file's stem where that is absent or only a revision hash."""
    name = (meta.text("general.name") or "").strip()
    return meta.path.stem if not name or re.fullmatch(r"[0-9a-f]{40}", name) else name


def embedding_rows(meta: Metadata, tensors: dict[str, TensorInfo]) -> int:
    """Rows of the token embedding, which is the size of the vocabulary.

    Raises:
        BadModelFile: the tensor is not a matrix.
    """
    shape = tensors[TOKEN_EMBEDDING].shape
    if len(shape) != 2:
        raise meta.bad(f"stores {TOKEN_EMBEDDING!r} in the shape {list(shape)}")
    return shape[1]


def _read_gemma4(
    meta: Metadata, blocks: int, width: int, tensors: dict[str, TensorInfo]
) -> AttentionLayers:
    if meta.integer("nextn_predict_layers", 0):
        raise meta.bad("has predicting layers inside, which no Gemma 4 has")
    out = meta.integer("embedding_length_out", width)
    if out not in (0, width):
        raise meta.bad(f"has an output width of {out} and a width of {width}")
    check_numerics(meta)
    if not all(meta.per_layer("feed_forward_length", blocks)):
        raise meta.bad("has a layer without a feed-forward part")
    meta.per_layer("expert_feed_forward_length", blocks, ())
    # Required by llama.cpp even where it is 0.
    per_layer = meta.integer("embedding_length_per_layer_input") > 0
    attention = read_target_attention(meta, blocks)
    check_target_tensors(meta, tensors, attention, per_layer)
    return attention


def _per_layer_width(meta: Metadata) -> int:
    value = meta.get("embedding_length_per_layer_input")
    return value if isinstance(value, int) else 0

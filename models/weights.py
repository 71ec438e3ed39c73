"""The tensors of a model: whether all that llama.cpp needs are there, and in which formats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gemma_local.models.attention import AttentionLayers
from gemma_local.models.ggml_types import FLOAT_TYPES, NO_PRODUCT_TYPES
from gemma_local.models.gguf import TensorInfo
from gemma_local.models.metadata import Metadata

TOKEN_EMBEDDING = "token_embd.weight"
OUTPUT = "output.weight"
PER_LAYER_TABLE = "per_layer_token_embd.weight"
_UNUSED = ("masked_embd_",)
"""Beginnings of the drafter's centroid tensors, which llama.cpp skips."""

_GEMMA4_LAYER = (
    "attn_norm",
    "attn_output",
    "attn_q_norm",
    "post_attention_norm",
    "ffn_norm",
    "ffn_gate",
    "ffn_up",
    "ffn_down",
    "post_ffw_norm",
)
_DRAFTER_LAYER = (*_GEMMA4_LAYER, "attn_q", "layer_output_scale")
_EXPERT_LAYER = (
    "ffn_gate_inp.scale",
    "pre_ffw_norm_2.weight",
    "post_ffw_norm_1.weight",
    "post_ffw_norm_2.weight",
    "ffn_down_exps.weight",
)
_PER_LAYER_EMBEDDING = ("inp_gate", "proj", "post_norm")


@dataclass(frozen=True, slots=True)
class Weights:
    """A summary of the tensors of all shards."""

    parameter_count: int
    active_parameters: int
    """Of the matrices that one token is multiplied with: no tables, only the experts used."""
    matrix_types: frozenset[str]
    """Formats of the matrices that inputs are multiplied with; lookup tables do not count."""
    quantisation: str
    """The format of most of those matrices by bytes, such as ``Q4_0``."""

    @property
    def float_matrix(self) -> bool:
        """Whether some products are done in floating point (F32, F16 or BF16)."""
        return bool(self.matrix_types & FLOAT_TYPES)


def summarise_weights(tensors: Mapping[str, TensorInfo], *, expert_share: float = 1.0) -> Weights:
    """Formats and number of parameters.

    Args:
        tensors: by name, of all shards.
        expert_share: experts used per token / experts.
    """
    tied = OUTPUT not in tensors
    types: set[str] = set()
    body: Counter[str] = Counter()
    active = 0.0
    for tensor in tensors.values():
        # The token embedding is a lookup, and with tied weights also the output matrix.
        lookup = tensor.name == PER_LAYER_TABLE or (tensor.name == TOKEN_EMBEDDING and not tied)
        if _is_vector(tensor) or lookup or tensor.name.startswith(_UNUSED):
            continue
        types.add(tensor.type_name)
        active += tensor.elements * (expert_share if "_exps." in tensor.name else 1.0)
        # Quantisers keep the output matrix more precise than the rest, and in a small model with
        # a large vocabulary it would decide the name.
        if tensor.name not in (OUTPUT, TOKEN_EMBEDDING):
            body[tensor.type_name] += tensor.nbytes
    quantisation = body.most_common(1)[0][0] if body else "".join(sorted(types)[:1])
    count = sum(tensor.elements for tensor in tensors.values())
    return Weights(count, round(active), frozenset(types), quantisation)


def check_any_tensors(meta: Metadata, tensors: Mapping[str, TensorInfo]) -> None:
    """The least that a model of any architecture has: an embedding and layers.

    Raises:
        BadModelFile: one of them is missing.
    """
    if TOKEN_EMBEDDING not in tensors:
        raise meta.bad(f"lacks the tensor {TOKEN_EMBEDDING!r}")
    if not any(name.startswith("blk.") for name in tensors):
        raise meta.bad("has no layers")


def check_target_tensors(
    meta: Metadata, tensors: Mapping[str, TensorInfo], layers: AttentionLayers, per_layer: bool
) -> None:
    """Every tensor that ``load_arch_tensors`` of llama.cpp's ``gemma4.cpp`` asks for.

    Args:
        meta: of a ``gemma4`` file.
        tensors: by name, of all shards.
        layers: its attention layers.
        per_layer: whether it has per-layer embeddings (E2B, E4B).

    Raises:
        BadModelFile: a tensor is missing (the first one is named), or stored in a format in
            which llama.cpp aborts.
    """
    _check_present(meta, tensors, _target_names(tensors, layers, per_layer))
    _check_types(meta, tensors)


def check_drafter_tensors(
    meta: Metadata, tensors: Mapping[str, TensorInfo], layers: AttentionLayers
) -> None:
    """Every tensor that ``gemma4-assistant.cpp`` asks for; arguments and errors as above."""
    _check_present(meta, tensors, _drafter_names(layers))
    _check_types(meta, tensors)


def _target_names(
    tensors: Mapping[str, TensorInfo], layers: AttentionLayers, per_layer: bool
) -> Iterator[str]:
    yield from (TOKEN_EMBEDDING, "output_norm.weight")
    if per_layer:
        yield from (PER_LAYER_TABLE, "per_layer_model_proj.weight", "per_layer_proj_norm.weight")
    if not all(layers.sliding):
        yield "rope_freqs.weight"
    for i in range(len(layers.sliding)):
        block = f"blk.{i}."
        yield from (f"{block}{name}.weight" for name in _GEMMA4_LAYER)
        if f"{block}attn_qkv.weight" not in tensors:
            yield f"{block}attn_q.weight"
            if i < layers.owning:
                yield f"{block}attn_k.weight"
        if i < layers.owning:
            yield f"{block}attn_k_norm.weight"
        if f"{block}ffn_gate_inp.weight" in tensors:
            yield from (block + name for name in _EXPERT_LAYER)
            if f"{block}ffn_gate_up_exps.weight" not in tensors:
                yield from (f"{block}ffn_gate_exps.weight", f"{block}ffn_up_exps.weight")
        if per_layer:
            yield from (f"{block}{name}.weight" for name in _PER_LAYER_EMBEDDING)


def _drafter_names(layers: AttentionLayers) -> Iterator[str]:
    yield from (TOKEN_EMBEDDING, "output_norm.weight")
    yield from ("nextn.pre_projection.weight", "nextn.post_projection.weight")
    if not all(layers.sliding):
        yield "rope_freqs.weight"
    for i in range(len(layers.sliding)):
        yield from (f"blk.{i}.{name}.weight" for name in _DRAFTER_LAYER)


def _check_present(meta: Metadata, tensors: Mapping[str, TensorInfo], names: Iterator[str]) -> None:
    for name in names:
        if name not in tensors:
            raise meta.bad(f"lacks the tensor {name!r}")


def _check_types(meta: Metadata, tensors: Mapping[str, TensorInfo]) -> None:
    for tensor in tensors.values():
        if tensor.name.startswith(_UNUSED):
            continue
        # ggml adds and multiplies an F32 stream with F32 vectors only, and asserts F32 rotation
        # factors; in any other format it aborts at the first token or while loading.
        if _is_vector(tensor) and tensor.type_name != "F32":
            raise meta.bad(
                f"stores the tensor {tensor.name!r} as {tensor.type_name}, which must be F32"
            )
        if not _is_vector(tensor) and tensor.type_name in NO_PRODUCT_TYPES:
            raise meta.bad(
                f"stores the matrix {tensor.name!r} as {tensor.type_name}, which cannot be "
                "multiplied"
            )


def _is_vector(tensor: TensorInfo) -> bool:
    return all(length == 1 for length in tensor.shape[1:])

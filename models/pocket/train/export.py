"""Writes a target and a drafter as GGUF files that llama.cpp takes for ``gemma4``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from gguf import GGMLQuantizationType, GGUFWriter, LlamaFileType, quantize
from torch import Tensor, nn

from gemma_local.models.pocket.train.architecture import Drafter, Target, rope_factors
from gemma_local.models.pocket.train.shape import TargetShape
from gemma_local.models.pocket.train.tokenizer import Tokenizer

_FILE_TYPES: Final = {
    "F32": LlamaFileType.ALL_F32,
    "F16": LlamaFileType.MOSTLY_F16,
    "Q8_0": LlamaFileType.MOSTLY_Q8_0,
}
_FLOATS: Final = ("per_layer_model_proj.weight",)
"""Matrices that llama.cpp itself never quantises."""


@dataclass(frozen=True, slots=True)
class Labels:
    """What a file says about itself."""

    name: str
    description: str
    licence: str = "apache-2.0"


def export_target(
    target: Target,
    tokenizer: Tokenizer,
    template: str,
    labels: Labels,
    path: Path,
    *,
    weights: str = "F16",
) -> None:
    """Write a target; ``weights`` is the format of its matrices: F32, F16 or Q8_0."""
    shape = target.shape
    writer = _writer(path, "gemma4", labels, weights)
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    writer.add_final_logit_softcapping(shape.softcap)
    # Required even where there are none.
    writer.add_embedding_length_per_layer_input(shape.per_layer)
    writer.add_shared_kv_layers(shape.shared)
    _write_attention(writer, shape, shape.sliding)
    tokenizer.write(writer, template)
    _write_tensors(writer, target, shape, weights)


def export_drafter(
    drafter: Drafter, tokenizer: Tokenizer, labels: Labels, path: Path, *, weights: str = "F16"
) -> None:
    """Write a drafter; its list of tokens is the target's."""
    shape, target = drafter.shape, drafter.target_shape
    layers = len(shape.sliding)
    writer = _writer(path, "gemma4-assistant", labels, weights)
    writer.add_context_length(target.context)
    writer.add_embedding_length(shape.width)
    writer.add_embedding_length_out(target.width)
    writer.add_block_count(layers)
    writer.add_nextn_predict_layers(layers)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    writer.add_embedding_length_per_layer_input(0)
    writer.add_shared_kv_layers(layers)
    _write_attention(writer, target, shape.sliding)
    tokenizer.write(writer, "")
    _write_tensors(writer, drafter, target, weights)


def as_stored(module: nn.Module, weights: str) -> dict[str, Tensor]:
    """A state dict of what a file of that format holds: the parameters, rounded as it does."""
    return {
        name: torch.from_numpy(_rounded(name, _array(value), weights))
        for name, value in module.state_dict().items()
    }


def _writer(path: Path, architecture: str, labels: Labels, weights: str) -> GGUFWriter:
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = GGUFWriter(path, architecture)
    writer.add_type("model")
    writer.add_name(labels.name)
    writer.add_description(labels.description)
    writer.add_license(labels.licence)
    writer.add_file_type(_FILE_TYPES[weights])
    writer.add_quantization_version(2)
    return writer


def _write_attention(writer: GGUFWriter, shape: TargetShape, sliding: tuple[bool, ...]) -> None:
    """What target and drafter have in common, because they share one cache."""
    writer.add_head_count_kv([shape.kv_heads] * len(sliding))
    writer.add_sliding_window(shape.window)
    writer.add_sliding_window_pattern(sliding)
    writer.add_key_length(shape.head_full)
    writer.add_value_length(shape.head_full)
    writer.add_key_length_swa(shape.head_sliding)
    writer.add_value_length_swa(shape.head_sliding)
    writer.add_rope_dimension_count(shape.head_full)
    writer.add_rope_dimension_count_swa(shape.head_sliding)
    writer.add_rope_freq_base(1_000_000.0)
    writer.add_rope_freq_base_swa(10_000.0)
    writer.add_layer_norm_rms_eps(1e-6)


def _write_tensors(writer: GGUFWriter, module: nn.Module, shape: TargetShape, weights: str) -> None:
    tensors: Mapping[str, Tensor] = module.state_dict()
    for name, value in tensors.items():
        array = _array(value)
        kind = _format(name, array, weights)
        if kind is GGMLQuantizationType.Q8_0:
            writer.add_tensor(name, quantize(array, kind), raw_dtype=kind)
        elif kind is GGMLQuantizationType.F16:
            writer.add_tensor(name, array.astype(np.float16))
        else:
            writer.add_tensor(name, array)
    writer.add_tensor("rope_freqs.weight", _array(rope_factors(shape.head_full)))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _array(value: Tensor) -> np.ndarray:
    return np.ascontiguousarray(value.detach().numpy().astype(np.float32))


def _format(name: str, array: np.ndarray, weights: str) -> GGMLQuantizationType:
    if array.ndim < 2 or name in _FLOATS:
        return GGMLQuantizationType.F32
    kind = GGMLQuantizationType[weights]
    # Blocks of Q8_0 have 32 weights; a row that they do not fill is kept as it is.
    fits = kind is not GGMLQuantizationType.Q8_0 or array.shape[-1] % 32 == 0
    return kind if fits else GGMLQuantizationType.F16


def _rounded(name: str, array: np.ndarray, weights: str) -> np.ndarray:
    from gguf import dequantize

    kind = _format(name, array, weights)
    if kind is GGMLQuantizationType.F32:
        return array
    if kind is GGMLQuantizationType.F16:
        return array.astype(np.float16).astype(np.float32)
    return dequantize(quantize(array, kind), kind).astype(np.float32)

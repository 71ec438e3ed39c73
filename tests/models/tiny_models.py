"""Gemma 4 targets and drafters of a few kilobytes, with the keys and tensors llama.cpp asks for."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

from tests.models.gguf_bytes import Gguf, Tensor, Typed

WIDTH, DRAFTER_WIDTH, FEED_FORWARD, VOCABULARY = 64, 32, 96, 24
FULL_HEAD, SLIDING_HEAD, HEADS, WINDOW, CONTEXT = 32, 16, 4, 64, 256
PER_LAYER, EXPERTS, EXPERT_WIDTH = 8, 4, 32
PATTERN = (True, False, True, False)
SLIDING_KV_HEADS, FULL_KV_HEADS = 2, 1
# Rotation is divided by these; zeros would make every answer NaN.
_ONES = struct.pack(f"<{FULL_HEAD // 2}f", *([1.0] * (FULL_HEAD // 2)))


def tiny_target(
    *,
    pattern: Sequence[bool] = PATTERN,
    shared: int = 0,
    per_layer: bool = False,
    experts: bool = False,
) -> Gguf:
    """A ``gemma4`` with one layer for each entry of ``pattern`` (true: sliding)."""
    layers = len(pattern)
    width = PER_LAYER if per_layer else 0
    metadata = _common("gemma4", layers, WIDTH)
    metadata |= {
        "general.name": "Tiny",
        "gemma4.attention.shared_kv_layers": shared,
        "gemma4.attention.head_count_kv": Typed("i32", [_kv_heads(sliding) for sliding in pattern]),
        "gemma4.attention.sliding_window_pattern": list(pattern),
        "gemma4.embedding_length_per_layer_input": width,
        "gemma4.final_logit_softcapping": 30.0,
        "tokenizer.chat_template": "{{ messages }}",
    }
    tensors = {
        "token_embd.weight": Tensor((WIDTH, VOCABULARY)),
        "output_norm.weight": Tensor((WIDTH,)),
        "rope_freqs.weight": Tensor((FULL_HEAD // 2,), data=_ONES),
    }
    if per_layer:
        tensors["per_layer_token_embd.weight"] = Tensor((width * layers, VOCABULARY))
        tensors["per_layer_model_proj.weight"] = Tensor((WIDTH, width * layers))
        tensors["per_layer_proj_norm.weight"] = Tensor((width,))
    for i, sliding in enumerate(pattern):
        size = SLIDING_HEAD if sliding else FULL_HEAD
        block = _block(WIDTH, size)
        if i < layers - shared:
            block["attn_k.weight"] = Tensor((WIDTH, size * _kv_heads(sliding)))
            block["attn_k_norm.weight"] = Tensor((size,))
        if per_layer:
            block["inp_gate.weight"] = Tensor((WIDTH, width))
            block["proj.weight"] = Tensor((width, WIDTH))
            block["post_norm.weight"] = Tensor((WIDTH,))
        if experts:
            block["ffn_gate_inp.weight"] = Tensor((WIDTH, EXPERTS))
            for name in ("ffn_gate_inp.scale", "pre_ffw_norm_2.weight"):
                block[name] = Tensor((WIDTH,))
            for name in ("post_ffw_norm_1.weight", "post_ffw_norm_2.weight"):
                block[name] = Tensor((WIDTH,))
            block["ffn_gate_up_exps.weight"] = Tensor((WIDTH, 2 * EXPERT_WIDTH, EXPERTS))
            block["ffn_down_exps.weight"] = Tensor((EXPERT_WIDTH, WIDTH, EXPERTS))
        tensors |= {f"blk.{i}.{name}": tensor for name, tensor in block.items()}
    if experts:
        metadata |= {
            "gemma4.expert_count": EXPERTS,
            "gemma4.expert_used_count": 2,
            "gemma4.expert_feed_forward_length": EXPERT_WIDTH,
        }
    return Gguf(metadata, tensors)


def tiny_drafter() -> Gguf:
    """A two-layer ``gemma4-assistant`` that fits `tiny_target`: sliding, full."""
    metadata = _common("gemma4-assistant", 2, DRAFTER_WIDTH)
    metadata |= {
        "general.name": "Tiny assistant",
        "gemma4-assistant.embedding_length_out": WIDTH,
        "gemma4-assistant.nextn_predict_layers": 2,
        "gemma4-assistant.attention.head_count_kv": Typed("i32", [SLIDING_KV_HEADS, FULL_KV_HEADS]),
        "gemma4-assistant.attention.sliding_window_pattern": list(PATTERN[:2]),
        "gemma4-assistant.attention.shared_kv_layers": 2,
    }
    tensors = {
        "token_embd.weight": Tensor((DRAFTER_WIDTH, VOCABULARY)),
        "output_norm.weight": Tensor((DRAFTER_WIDTH,)),
        "rope_freqs.weight": Tensor((FULL_HEAD // 2,), data=_ONES),
        "nextn.pre_projection.weight": Tensor((2 * WIDTH, DRAFTER_WIDTH)),
        "nextn.post_projection.weight": Tensor((DRAFTER_WIDTH, WIDTH)),
    }
    for i, sliding in enumerate(PATTERN[:2]):
        block = _block(DRAFTER_WIDTH, SLIDING_HEAD if sliding else FULL_HEAD)
        block["layer_output_scale.weight"] = Tensor((1,))
        tensors |= {f"blk.{i}.{name}": tensor for name, tensor in block.items()}
    return Gguf(metadata, tensors)


def write(path: Path, model: Gguf) -> Path:
    """Save a model."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.to_bytes())
    return path


def _common(architecture: str, layers: int, width: int) -> dict[str, object]:
    tokens = ["<pad>", "<eos>", "<bos>", "<unk>", *(f"t{i}" for i in range(VOCABULARY - 4))]
    own: dict[str, object] = {
        "block_count": layers,
        "context_length": CONTEXT,
        "embedding_length": width,
        "feed_forward_length": FEED_FORWARD,
        "attention.head_count": HEADS,
        "attention.layer_norm_rms_epsilon": 1e-6,
        "attention.key_length": FULL_HEAD,
        "attention.value_length": FULL_HEAD,
        "attention.key_length_swa": SLIDING_HEAD,
        "attention.value_length_swa": SLIDING_HEAD,
        "attention.sliding_window": WINDOW,
        "rope.freq_base": 1_000_000.0,
        "rope.freq_base_swa": 10_000.0,
        "rope.dimension_count": FULL_HEAD,
        "rope.dimension_count_swa": SLIDING_HEAD,
    }
    return {
        "general.architecture": architecture,
        "general.type": "model",
        **{f"{architecture}.{key}": value for key, value in own.items()},
        "tokenizer.ggml.model": "gemma4",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.scores": [0.0] * VOCABULARY,
        "tokenizer.ggml.token_type": Typed("i32", [3] * 4 + [1] * (VOCABULARY - 4)),
        "tokenizer.ggml.merges": ["t 1"],
        "tokenizer.ggml.bos_token_id": 2,
        "tokenizer.ggml.eos_token_id": 1,
    }


def _kv_heads(sliding: bool) -> int:
    return SLIDING_KV_HEADS if sliding else FULL_KV_HEADS


def _block(width: int, head_size: int) -> dict[str, Tensor]:
    return {
        "attn_norm.weight": Tensor((width,)),
        "attn_q.weight": Tensor((width, head_size * HEADS)),
        "attn_output.weight": Tensor((head_size * HEADS, width)),
        "attn_q_norm.weight": Tensor((head_size,)),
        "post_attention_norm.weight": Tensor((width,)),
        "ffn_norm.weight": Tensor((width,)),
        "ffn_gate.weight": Tensor((width, FEED_FORWARD)),
        "ffn_up.weight": Tensor((width, FEED_FORWARD)),
        "ffn_down.weight": Tensor((FEED_FORWARD, width)),
        "post_ffw_norm.weight": Tensor((width,)),
    }

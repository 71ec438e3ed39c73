"""Small shapes of every kind of Gemma 4, and the metadata and tensors each needs.

Names and dimensions follow ``src/models/gemma4.cpp`` and ``gemma4-assistant.cpp`` of llama.cpp, the
keys ``conversion/gemma.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from gguf import GGUFWriter


class Role(Enum):
    """What a tensor does, so that scripted and random files can fill it each in its way."""

    EMBEDDING = "embedding"  # token rows
    HEAD = "head"  # output rows
    MATRIX = "matrix"
    FLOAT_MATRIX = "float matrix"  # llama-quant never quantises these
    NORM = "norm"
    HEAD_NORM = "head norm"  # of queries and keys
    POST_NORM = "post norm"  # scales what a block adds to the residual stream
    SCALE = "scale"
    ROPE_FREQS = "rope freqs"
    BRIDGE = "bridge"  # between target and drafter: pre_projection, post_projection


@dataclass(frozen=True)
class Tensor:
    """One tensor of a file; ``shape`` in numpy order, [out, in] for a matrix."""

    name: str
    shape: tuple[int, ...]
    role: Role
    layer: int = -1


@dataclass(frozen=True)
class Shape:
    """Dimensions of a target. ``sliding[i]`` is True where layer i has a sliding window."""

    kind: str
    width: int = 128
    feed_forward: int = 128
    sliding: tuple[bool, ...] = (True, True, False, True, True, False)
    heads: int = 4
    kv_heads_sliding: int = 2
    kv_heads_full: int = 1
    head_dim_sliding: int = 32
    head_dim_full: int = 64
    window: int = 64
    context_length: int = 8192
    shared_kv: int = 0
    double_wide: bool = False
    per_layer: int = 0
    value_is_key: bool = False
    experts: int = 0
    experts_used: int = 0
    expert_feed_forward: int = 0
    fused_experts: bool = True
    softcap: float = 30.0
    separate_head: bool = True
    drafter_width: int = 0  # 0: chosen by the builder
    drafter_feed_forward: int = 64
    drafter_heads: int = 4
    drafter_sliding: tuple[bool, ...] = (True, True, True, False)

    def __post_init__(self) -> None:
        layers = len(self.sliding)
        own = layers - self.shared_kv
        # llama.cpp asserts (and an assert ends the process) unless the drafter finds a sliding
        # layer at n-2 and a full one at n-1, and shared layers the same just before them.
        for last in {layers, own}:
            if last < 2 or self.sliding[last - 2 : last] != (True, False):
                raise ValueError(f"layers {last - 2} and {last - 1} must be (sliding, full)")
        if self.drafter_width == self.width:
            raise ValueError("a drafter as wide as its target is refused by llama.cpp")

    @property
    def layers(self) -> int:
        return len(self.sliding)

    def has_kv(self, layer: int) -> bool:
        return layer < self.layers - self.shared_kv

    def head_dim(self, sliding: bool) -> int:
        return self.head_dim_sliding if sliding else self.head_dim_full

    def kv_heads(self, sliding: bool) -> int:
        return self.kv_heads_sliding if sliding else self.kv_heads_full

    def layer_feed_forward(self, layer: int) -> int:
        wide = self.double_wide and not self.has_kv(layer)
        return self.feed_forward * (2 if wide else 1)


KINDS = {
    "dense": Shape("dense"),  # the layer layout of 12B and 31B
    "keqv": Shape(
        "keqv", value_is_key=True
    ),  # full layers without attn_v, as 12B, 26B and 31B have
    "edge": Shape("edge", shared_kv=3, double_wide=True, per_layer=32, kv_heads_sliding=1),  # E2B
    "moe": Shape(
        "moe", value_is_key=True, experts=4, experts_used=2, expert_feed_forward=64, feed_forward=64
    ),  # 26B-A4B
}


def shape_of(kind: str, **changes: object) -> Shape:
    """The shape of a kind, with some dimensions changed."""
    return replace(KINDS[kind], **changes)  # type: ignore[arg-type]


def target_tensors(shape: Shape, vocabulary: int) -> Iterator[Tensor]:
    """Every tensor a target of this shape has."""
    width = shape.width
    yield Tensor("token_embd.weight", (vocabulary, width), Role.EMBEDDING)
    if shape.separate_head:
        yield Tensor("output.weight", (vocabulary, width), Role.HEAD)
    yield Tensor("output_norm.weight", (width,), Role.NORM)
    yield Tensor("rope_freqs.weight", (shape.head_dim_full // 2,), Role.ROPE_FREQS)
    if shape.per_layer:
        rows = shape.per_layer * shape.layers
        yield Tensor("per_layer_token_embd.weight", (vocabulary, rows), Role.MATRIX)
        yield Tensor("per_layer_model_proj.weight", (rows, width), Role.FLOAT_MATRIX)
        yield Tensor("per_layer_proj_norm.weight", (shape.per_layer,), Role.NORM)
    for layer, sliding in enumerate(shape.sliding):
        head, kv_heads = shape.head_dim(sliding), shape.kv_heads(sliding)
        wide = shape.layer_feed_forward(layer)

        def tensor(name: str, dims: tuple[int, ...], role: Role, layer: int = layer) -> Tensor:
            return Tensor(f"blk.{layer}.{name}", dims, role, layer)

        yield tensor("attn_norm.weight", (width,), Role.NORM)
        yield tensor("attn_q.weight", (shape.heads * head, width), Role.MATRIX)
        yield tensor("attn_q_norm.weight", (head,), Role.HEAD_NORM)
        if shape.has_kv(layer):
            yield tensor("attn_k.weight", (kv_heads * head, width), Role.MATRIX)
            yield tensor("attn_k_norm.weight", (head,), Role.HEAD_NORM)
            if sliding or not shape.value_is_key:
                yield tensor("attn_v.weight", (kv_heads * head, width), Role.MATRIX)
        yield tensor("attn_output.weight", (width, shape.heads * head), Role.MATRIX)
        yield tensor("post_attention_norm.weight", (width,), Role.POST_NORM)
        yield tensor("ffn_norm.weight", (width,), Role.NORM)
        yield tensor("ffn_gate.weight", (wide, width), Role.MATRIX)
        yield tensor("ffn_up.weight", (wide, width), Role.MATRIX)
        yield tensor("ffn_down.weight", (width, wide), Role.MATRIX)
        yield tensor("post_ffw_norm.weight", (width,), Role.POST_NORM)
        yield tensor("layer_output_scale.weight", (1,), Role.SCALE)
        if shape.experts:
            count, narrow = shape.experts, shape.expert_feed_forward
            yield tensor("ffn_gate_inp.weight", (count, width), Role.FLOAT_MATRIX)
            yield tensor("ffn_gate_inp.scale", (width,), Role.NORM)
            yield tensor("pre_ffw_norm_2.weight", (width,), Role.NORM)
            yield tensor("post_ffw_norm_1.weight", (width,), Role.NORM)
            yield tensor("post_ffw_norm_2.weight", (width,), Role.NORM)
            if shape.fused_experts:
                yield tensor("ffn_gate_up_exps.weight", (count, 2 * narrow, width), Role.MATRIX)
            else:
                yield tensor("ffn_gate_exps.weight", (count, narrow, width), Role.MATRIX)
                yield tensor("ffn_up_exps.weight", (count, narrow, width), Role.MATRIX)
            yield tensor("ffn_down_exps.weight", (count, width, narrow), Role.MATRIX)
            yield tensor("ffn_down_exps.scale", (count,), Role.SCALE)
        if shape.per_layer:
            yield tensor("inp_gate.weight", (shape.per_layer, width), Role.MATRIX)
            yield tensor("proj.weight", (width, shape.per_layer), Role.MATRIX)
            yield tensor("post_norm.weight", (width,), Role.POST_NORM)


def drafter_tensors(shape: Shape, vocabulary: int) -> Iterator[Tensor]:
    """Every tensor the drafter of such a target has; keys and values are the target's."""
    width, backbone, wide = shape.drafter_width, shape.width, shape.drafter_feed_forward
    yield Tensor("token_embd.weight", (vocabulary, width), Role.HEAD)
    yield Tensor("output_norm.weight", (width,), Role.NORM)
    yield Tensor("nextn.pre_projection.weight", (width, 2 * backbone), Role.BRIDGE)
    yield Tensor("nextn.post_projection.weight", (backbone, width), Role.BRIDGE)
    yield Tensor("rope_freqs.weight", (shape.head_dim_full // 2,), Role.ROPE_FREQS)
    for layer, sliding in enumerate(shape.drafter_sliding):
        rows = shape.drafter_heads * shape.head_dim(sliding)
        for name, dims, role in (
            ("attn_norm", (width,), Role.NORM),
            ("attn_q", (rows, width), Role.MATRIX),
            ("attn_q_norm", (shape.head_dim(sliding),), Role.HEAD_NORM),
            ("attn_output", (width, rows), Role.MATRIX),
            ("post_attention_norm", (width,), Role.POST_NORM),
            ("ffn_norm", (width,), Role.NORM),
            ("ffn_gate", (wide, width), Role.MATRIX),
            ("ffn_up", (wide, width), Role.MATRIX),
            ("ffn_down", (width, wide), Role.MATRIX),
            ("post_ffw_norm", (width,), Role.POST_NORM),
            ("layer_output_scale", (1,), Role.SCALE),
        ):
            yield Tensor(f"blk.{layer}.{name}.weight", dims, role, layer)


def write_target_keys(writer: GGUFWriter, shape: Shape) -> None:
    """Metadata of a ``gemma4`` file."""
    writer.add_type("model")
    writer.add_context_length(shape.context_length)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    wide = [shape.layer_feed_forward(layer) for layer in range(shape.layers)]
    writer.add_feed_forward_length(wide if shape.double_wide else wide[0])
    writer.add_head_count(shape.heads)
    if shape.softcap:
        writer.add_final_logit_softcapping(shape.softcap)
    # Required even where there are no per-layer embeddings: then 0.
    writer.add_embedding_length_per_layer_input(shape.per_layer)
    writer.add_shared_kv_layers(shape.shared_kv)
    if shape.experts:
        writer.add_expert_count(shape.experts)
        writer.add_expert_used_count(shape.experts_used)
        writer.add_expert_feed_forward_length(shape.expert_feed_forward)
    _write_attention_keys(writer, shape, shape.sliding)


def write_drafter_keys(writer: GGUFWriter, shape: Shape) -> None:
    """Metadata of a ``gemma4-assistant`` file."""
    layers = len(shape.drafter_sliding)
    writer.add_type("model")
    writer.add_context_length(shape.context_length)
    writer.add_embedding_length(shape.drafter_width)
    writer.add_embedding_length_out(shape.width)
    writer.add_block_count(layers)
    writer.add_nextn_predict_layers(layers)
    writer.add_feed_forward_length(shape.drafter_feed_forward)
    writer.add_head_count(shape.drafter_heads)
    writer.add_embedding_length_per_layer_input(0)
    writer.add_shared_kv_layers(layers)
    _write_attention_keys(writer, shape, shape.drafter_sliding)


def _write_attention_keys(writer: GGUFWriter, shape: Shape, sliding: tuple[bool, ...]) -> None:
    """What target and drafter must have in common, because they share one KV cache."""
    writer.add_head_count_kv([shape.kv_heads(layer) for layer in sliding])
    writer.add_sliding_window(shape.window)
    writer.add_sliding_window_pattern(sliding)
    writer.add_key_length(shape.head_dim_full)
    writer.add_value_length(shape.head_dim_full)
    writer.add_key_length_swa(shape.head_dim_sliding)
    writer.add_value_length_swa(shape.head_dim_sliding)
    writer.add_rope_dimension_count(shape.head_dim_full)
    writer.add_rope_dimension_count_swa(shape.head_dim_sliding)
    writer.add_rope_freq_base(1_000_000.0)
    writer.add_rope_freq_base_swa(10_000.0)
    writer.add_layer_norm_rms_eps(1e-6)

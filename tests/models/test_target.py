"""Which targets are let through to llama.cpp, and what is read of them."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from gemma_local.models.attention import KvGeometry
from gemma_local.models.target import inspect_target
from tests.models.changes import (
    keys,
    other,
    target_at,
    without,
)
from tests.models.gguf_bytes import BF16, F16, Q4_0, Gguf, Tensor, Typed
from tests.models.tiny_models import PATTERN, VOCABULARY, WIDTH, tiny_target, write


@pytest.mark.parametrize("shared", [0, 2])
@pytest.mark.parametrize("per_layer", [False, True])
@pytest.mark.parametrize("experts", [False, True])
def test_whole_targets(tmp_path: Path, shared: int, per_layer: bool, experts: bool) -> None:
    model = tiny_target(shared=shared, per_layer=per_layer, experts=experts)
    path = tmp_path / "tiny.gguf"
    facts = target_at(path, model=model)
    assert (facts.path, facts.architecture, facts.is_gemma4) == (path, "gemma4", True)
    assert (facts.name, facts.size_label) == ("Tiny", "")
    assert (facts.block_count, facts.embedding_length, facts.context_length) == (4, 64, 256)
    assert (facts.vocab_size, facts.tokenizer_model, facts.sliding_window) == (24, "gemma4", 64)
    assert facts.sliding_kv == KvGeometry(16, 2)
    assert facts.full_kv == KvGeometry(32, 1)
    assert facts.attention is not None
    assert (facts.attention.owning, facts.attention.sliding) == (4 - shared, PATTERN)
    assert facts.has_per_layer_embeddings is per_layer
    assert facts.expert_count == (4 if experts else 0)
    assert facts.chat_template == "{{ messages }}"
    assert facts.file_size == path.stat().st_size
    assert facts.parameter_count == sum(math.prod(t.shape) for t in model.tensors.values())
    sizes = {name: math.prod(t.shape) for name, t in model.tensors.items() if len(t.shape) > 1}
    idle = sum(n for name, n in sizes.items() if "_exps." in name) // 2  # 2 of 4 experts are used
    table = sizes.get("per_layer_token_embd.weight", 0)
    assert facts.active_parameters == sum(sizes.values()) - idle - table


@pytest.mark.parametrize(
    ("layers", "every", "shared", "width", "label"),
    [
        (35, 5, 20, 1536, "E2B"),
        (42, 6, 18, 2560, "E4B"),
        (48, 6, 0, 3840, "12B"),
        (30, 6, 0, 2816, "26B-A4B"),
        (60, 6, 0, 5376, "31B"),
    ],
)
def test_published_sizes(
    tmp_path: Path, layers: int, every: int, shared: int, width: int, label: str
) -> None:
    pattern = [(i + 1) % every != 0 for i in range(layers)]
    model = tiny_target(pattern=pattern, shared=shared)
    # Only the labels are tried here: the shapes of the tensors are llama.cpp's to check.
    facts = target_at(tmp_path / "m.gguf", keys(embedding_length=width), model=model)
    assert facts.size_label == label
    assert (facts.sliding_kv, facts.full_kv) == (KvGeometry(16, 2), KvGeometry(32, 1))


def test_one_number_for_all_layers(tmp_path: Path) -> None:
    facts = target_at(tmp_path / "m.gguf", keys(attention__head_count_kv=1))
    assert facts.attention is not None
    assert facts.attention.kv_heads == (1, 1, 1, 1)


def test_fused_attention_and_separate_experts(tmp_path: Path) -> None:
    model = tiny_target(experts=True)
    for i in range(4):
        block = f"blk.{i}."
        for name in ("attn_q", "attn_k", "attn_v"):
            model.tensors.pop(f"{block}{name}.weight", None)
        model.tensors[f"{block}attn_qkv.weight"] = Tensor((WIDTH, 128))
        del model.tensors[f"{block}ffn_gate_up_exps.weight"]
        model.tensors[f"{block}ffn_gate_exps.weight"] = Tensor((WIDTH, 32, 4))
        model.tensors[f"{block}ffn_up_exps.weight"] = Tensor((WIDTH, 32, 4))
    assert target_at(tmp_path / "m.gguf", model=model).is_gemma4


def test_name_falls_back_to_the_file(tmp_path: Path) -> None:
    assert target_at(tmp_path / "my model.gguf", without("general.name")).name == "my model"
    revision = other(general__name="47b6801b24d15ff9bcd8c96dfaea0be9ed3a0301")
    assert target_at(tmp_path / "m.gguf", revision).name == "m"


def test_missing_chat_template(tmp_path: Path) -> None:
    facts = target_at(tmp_path / "m.gguf", without("tokenizer.chat_template"))
    assert facts.chat_template is None


def test_quantisation(tmp_path: Path) -> None:
    model = tiny_target(per_layer=True)
    for name, info in model.tensors.items():
        if len(info.shape) > 1 and info.shape[0] % 32 == 0:
            info.type_id = Q4_0
        elif len(info.shape) > 1:
            info.type_id = BF16
        if name == "token_embd.weight":
            info.type_id = F16
    facts = target_at(tmp_path / "m.gguf", model=model)
    assert facts.quantisation == "Q4_0"
    # The tied embedding is multiplied with as well.
    assert facts.matrix_types == {"Q4_0", "F16", "BF16"}
    assert facts.float_matrix
    model.tensors["output.weight"] = Tensor((WIDTH, VOCABULARY), Q4_0)
    assert target_at(tmp_path / "m.gguf", model=model).matrix_types == {"Q4_0", "BF16"}


def test_no_float_matrix(tmp_path: Path) -> None:
    model = tiny_target()
    for info in model.tensors.values():
        if len(info.shape) > 1:
            info.type_id = Q4_0
    facts = target_at(tmp_path / "m.gguf", model=model)
    assert facts.matrix_types == {"Q4_0"}
    assert not facts.float_matrix


def test_a_split_target(tmp_path: Path) -> None:
    whole = tiny_target()
    names = list(whole.tensors)
    parts = []
    for i, part in enumerate((names[:10], names[10:])):
        split = {"split.no": Typed("u16", i), "split.count": Typed("u16", 2)}
        metadata = (whole.metadata if i == 0 else {}) | split
        model = Gguf(metadata, {name: whole.tensors[name] for name in part})
        parts.append(write(tmp_path / f"m-{i + 1:05d}-of-00002.gguf", model))
    facts = inspect_target(parts[0])
    assert facts.file_size == sum(part.stat().st_size for part in parts)
    assert facts.parameter_count == target_at(tmp_path / "whole.gguf").parameter_count


def test_another_architecture(tmp_path: Path) -> None:
    model = Gguf(
        {
            "general.architecture": "llama",
            "llama.block_count": 1,
            "llama.context_length": 2048,
            "llama.embedding_length": 64,
            "tokenizer.ggml.model": "llama",
            "tokenizer.ggml.tokens": ["<unk>", "<s>", "</s>"],
        },
        {"token_embd.weight": Tensor((64, 3)), "blk.0.attn_q.weight": Tensor((64, 64), F16)},
    )
    facts = target_at(tmp_path / "m.gguf", model=model)
    assert (facts.architecture, facts.is_gemma4, facts.size_label) == ("llama", False, "")
    assert (facts.attention, facts.sliding_kv, facts.full_kv) == (None, None, None)
    assert (facts.sliding_window, facts.vocab_size, facts.quantisation) == (0, 3, "F16")

"""The files: what is in them, and that each is made once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gguf import GGMLQuantizationType, GGUFReader

from tests.ggufs import Drafter, Random, build, script
from tests.ggufs.architecture import KINDS, drafter_tensors, target_tensors

HELLO = script(["Hello", " there", "."])


def value(reader: GGUFReader, key: str) -> object:
    field = reader.get_field(key)
    assert field is not None, key
    return field.contents()


@pytest.mark.parametrize("spec", [HELLO, Random(pull=12.0)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_pair_has_the_tensors_and_keys_of_its_kind(
    kind: str, spec: object, tmp_path: Path
) -> None:
    pair = build(kind, spec, tmp_path)  # type: ignore[arg-type]
    target, drafter = GGUFReader(pair.target), GGUFReader(pair.drafter)
    for reader, wanted in (
        (target, target_tensors(pair.shape, len(pair.vocabulary))),
        (drafter, drafter_tensors(pair.shape, len(pair.vocabulary))),
    ):
        found = {tensor.name: tuple(map(int, reversed(tensor.shape))) for tensor in reader.tensors}
        assert found == {tensor.name: tensor.shape for tensor in wanted}
    assert value(target, "general.architecture") == "gemma4"
    assert value(drafter, "general.architecture") == "gemma4-assistant"
    assert value(drafter, "gemma4-assistant.embedding_length_out") == pair.shape.width
    assert value(drafter, "gemma4-assistant.embedding_length") != pair.shape.width
    layers = value(drafter, "gemma4-assistant.block_count")
    assert value(drafter, "gemma4-assistant.nextn_predict_layers") == layers
    assert value(drafter, "gemma4-assistant.attention.shared_kv_layers") == layers
    assert value(target, "gemma4.embedding_length_per_layer_input") == pair.shape.per_layer
    assert len(value(target, "tokenizer.ggml.tokens")) == len(pair.vocabulary)  # type: ignore[arg-type]


def test_only_large_models_are_primed_with_an_empty_thought(tmp_path: Path) -> None:
    templates = [
        str(value(GGUFReader(build(kind, HELLO, tmp_path).target), "tokenizer.chat_template"))
        for kind in ("dense", "edge")
    ]
    assert ["<|channel>thought" in template for template in templates] == [True, False]


def test_a_pair_is_built_once(tmp_path: Path) -> None:
    pair = build("dense", HELLO, tmp_path)
    times = [path.stat().st_mtime_ns for path in (pair.target, pair.drafter)]
    again = build("dense", script(["Hello", " there", "."]), tmp_path)
    assert again == pair
    assert [path.stat().st_mtime_ns for path in (again.target, again.drafter)] == times
    assert len(list(tmp_path.iterdir())) == 2


def test_whatever_changes_the_content_changes_the_name(tmp_path: Path) -> None:
    pairs = [
        build("dense", HELLO, tmp_path),
        build("keqv", HELLO, tmp_path),
        build("dense", script(["Hello", " you", "."]), tmp_path),
        build("dense", HELLO, tmp_path, drafter=Drafter(wrong_every=2)),
        build("dense", HELLO, tmp_path, tensor_type="Q4_0"),
        build("dense", HELLO, tmp_path, window=32),
        build("dense", Random(), tmp_path),
        build("dense", Random(seed=1), tmp_path),
    ]
    assert len({pair.target for pair in pairs}) == len(pairs)


def test_a_file_is_the_same_whenever_it_is_built(tmp_path: Path) -> None:
    first, second = (
        build("moe", Random(pull=9.0), tmp_path / name, tensor_type="Q4_0") for name in "ab"
    )
    assert first.target.read_bytes() == second.target.read_bytes()
    assert first.drafter.read_bytes() == second.drafter.read_bytes()


@pytest.mark.parametrize("tensor_type", ["F32", "F16", "BF16", "Q4_0", "Q8_0", "Q4_K", "Q6_K"])
@pytest.mark.parametrize("kind", ["edge", "moe"])
def test_matrices_have_the_type_asked_for(kind: str, tensor_type: str, tmp_path: Path) -> None:
    reader = GGUFReader(build(kind, HELLO, tmp_path, tensor_type=tensor_type).target)
    types = {tensor.name: tensor.tensor_type for tensor in reader.tensors}
    assert types["blk.1.ffn_down.weight"] == GGMLQuantizationType[tensor_type]
    assert types["token_embd.weight"] == GGMLQuantizationType[tensor_type]
    assert types["blk.1.attn_norm.weight"] == GGMLQuantizationType.F32
    kept = "per_layer_model_proj.weight" if kind == "edge" else "blk.1.ffn_gate_inp.weight"
    assert types[kept].name in ("F32", "F16", "BF16")


def test_no_weight_is_infinite_or_nan(tmp_path: Path) -> None:
    pair = build("edge", Random(pull=12.0), tmp_path, tensor_type="F32")
    for path in (pair.target, pair.drafter):
        for tensor in GGUFReader(path).tensors:
            assert np.isfinite(tensor.data).all(), tensor.name


def test_separate_experts_are_written_apart(tmp_path: Path) -> None:
    pair = build("moe", HELLO, tmp_path, fused_experts=False)
    names = {tensor.name for tensor in GGUFReader(pair.target).tensors}
    assert "blk.0.ffn_gate_exps.weight" in names
    assert "blk.0.ffn_gate_up_exps.weight" not in names


def test_layers_that_llama_cpp_would_abort_on_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"must be \(sliding, full\)"):
        build("dense", HELLO, tmp_path, sliding=(True, False, True))
    with pytest.raises(ValueError, match=r"must be \(sliding, full\)"):
        build("edge", HELLO, tmp_path, shared_kv=2)
    with pytest.raises(ValueError, match="as wide as its target"):
        build("dense", HELLO, tmp_path, width=64, drafter_width=64)


def test_a_random_pair_says_nothing_known(tmp_path: Path) -> None:
    pair = build("dense", Random(), tmp_path)
    with pytest.raises(ValueError, match="not known"):
        pair.expected(3, 10)

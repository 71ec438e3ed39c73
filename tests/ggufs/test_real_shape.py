"""The table of real dimensions, and a pair built from it at a size that tests can afford."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from pathlib import Path

import pytest
from gguf import GGMLQuantizationType, GGUFReader

from tests.bench import real_shape
from tests.ggufs import build, printed, script
from tests.ggufs.architecture import drafter_tensors, target_tensors
from tests.ggufs.quantise import unpack
from tests.ggufs.vocabulary import stored

VOCABULARY = 262144
# Millions of weights of the text models (E2B and E4B are published with their encoders, as 5.1 and
# 8 billion) and of the drafters, whose centroids llama.cpp leaves out.
PUBLISHED = {
    "E2B": (4630, 77.7),
    "E4B": (7460, 78.5),
    "12B": (11950, 422.8),
    "26B-A4B": (25200, 419.7),
    "31B": (30700, 469.5),
}


@pytest.mark.parametrize("size", real_shape.SIZES)
def test_the_dimensions_add_up_to_the_published_number_of_weights(size: str) -> None:
    shape = real_shape.SIZES[size]
    target = sum(
        prod(tensor.shape)
        for tensor in target_tensors(replace(shape, separate_head=False), VOCABULARY)
    )
    drafter = sum(prod(tensor.shape) for tensor in drafter_tensors(shape, VOCABULARY))
    assert target / 1e6 == pytest.approx(PUBLISHED[size][0], rel=0.005)
    assert drafter / 1e6 == pytest.approx(PUBLISHED[size][1], rel=0.01)


def test_two_drafts_in_ten_are_wrong_and_no_word_repeats() -> None:
    pieces = [options[0][0] for options in real_shape.SCRIPT.segments[0].pieces]
    assert len(set(pieces)) == len(pieces)
    assert len(real_shape.ERRORS.wrong_after) / len(pieces) == pytest.approx(0.2, abs=0.02)
    assert max(real_shape.ERRORS.wrong_after) < len(pieces)


def test_a_small_pair_of_the_same_make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = build("dense", script([*real_shape.SCRIPT.names]), tmp_path / "words")
    small = replace(
        real_shape.SIZES["E2B"], width=160, feed_forward=64, head_dim_sliding=32, head_dim_full=64,
        per_layer=32, drafter_width=64, drafter_feed_forward=64,
    )  # fmt: skip
    monkeypatch.setitem(real_shape.SIZES, "E2B", small)
    pair = real_shape.real_pair("E2B", words.target, tmp_path / "pair")
    reader = GGUFReader(pair.target)
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    kind = GGMLQuantizationType.Q4_0
    assert tensors["blk.3.ffn_up.weight"].tensor_type == kind
    assert tensors["per_layer_model_proj.weight"].tensor_type == GGMLQuantizationType.BF16
    # The rows say the script: the embedding of a word, normed, meets the row of the next one.
    rows = unpack(tensors["token_embd.weight"].data, kind)
    head = unpack(tensors["output.weight"].data, kind)
    ids = {text: index for index, text in enumerate(words.vocabulary.tokens)}
    token, said = ids[stored("The")], ["The"]
    for _ in range(12):
        state = rows[token] / (rows[token] ** 2).mean() ** 0.5
        token = int((head @ state).argmax())
        said.append(words.vocabulary.text(token).decode())
    assert "".join(said) == printed(pair.expected(0, 13).tokens)
    written = [path.stat().st_mtime_ns for path in (pair.target, pair.drafter)]
    assert real_shape.real_pair("E2B", words.target, tmp_path / "pair") == pair
    assert [path.stat().st_mtime_ns for path in (pair.target, pair.drafter)] == written

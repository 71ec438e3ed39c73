"""Which drafters are let through to llama.cpp, and what the others are told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from gemma_local.models.attention import KvGeometry
from gemma_local.models.errors import BadModelFile
from tests.models.changes import (
    Change,
    check_sentence,
    drafter_at,
    keys,
    other,
    renamed,
    tensor,
    without,
)
from tests.models.gguf_bytes import F16, I32
from tests.models.tiny_models import VOCABULARY, WIDTH, tiny_drafter


def test_a_whole_drafter(tmp_path: Path) -> None:
    path = tmp_path / "d.gguf"
    facts = drafter_at(path)
    assert (facts.path, facts.architecture) == (path, "gemma4-assistant")
    assert (facts.name, facts.size_label) == ("Tiny assistant", "")
    assert (facts.block_count, facts.embedding_length) == (2, 32)
    assert (facts.target_embedding_length, facts.vocab_size) == (WIDTH, VOCABULARY)
    assert (facts.sliding_window, facts.context_length) == (64, 256)
    assert facts.kv_layers == ((True, KvGeometry(16, 2)), (False, KvGeometry(32, 1)))
    assert facts.quantisation == "F32"
    assert facts.matrix_types == {"F32"}
    assert facts.file_size == path.stat().st_size


def test_a_drafter_knows_the_size_it_is_for(tmp_path: Path) -> None:
    facts = drafter_at(tmp_path / "d.gguf", keys(embedding_length_out=2560))
    assert facts.size_label == "E4B"


def test_unused_centroids_may_be_there(tmp_path: Path) -> None:
    facts = drafter_at(
        tmp_path / "d.gguf",
        tensor("masked_embd_centroids.weight", (32, 4), F16),
        tensor("masked_embd_ordering", (24,), I32),
    )
    assert facts.matrix_types == {"F32"}


BAD_DRAFTERS: dict[str, tuple[Sequence[Change], str]] = {
    "target": ([renamed("gemma4")], "is a complete Gemma 4 model, not a drafter"),
    "fork's drafter": ([renamed("gemma4_assistant")], "converted for another program"),
    "ik's drafter": ([renamed("gemma4_mtp")], "converted for another program"),
    "drafter in disguise": (
        [renamed("gemma4", assistant__type="mtp")],
        "converted for another program",
    ),
    "eagle": ([renamed("eagle3")], "is a drafter of another kind (eagle3)"),
    "projector": ([renamed("clip")], "is a projector (mmproj)"),
    "adapter": ([other(general__type="adapter")], "is an adapter"),
    "another model": ([renamed("llama")], "is a llama model, not a Gemma 4 drafter"),
    "no target width": ([without("embedding_length_out")], "lacks the number"),
    "its own width": (
        [keys(embedding_length_out=32)],
        "gives its own width 32 as its target's",
    ),
    "no predicting layers": ([without("nextn_predict_layers")], "has 2 layers of which 0 predict"),
    "one predicting layer": ([keys(nextn_predict_layers=1)], "has 2 layers of which 1 predict"),
    "no layers": ([keys(block_count=0, nextn_predict_layers=0)], "claims 0 layers"),
    "no window": ([keys(attention__sliding_window=0)], "has a sliding window of 0 tokens"),
    "all full": (
        [keys(attention__sliding_window_pattern=[False, False])],
        "names no layer with a sliding window",
    ),
    "short pattern": ([keys(attention__sliding_window_pattern=[True])], "lists 1 entries"),
    "keys unlike values": ([keys(attention__value_length=16)], "has keys of length 32 but values"),
    "indivisible heads": ([keys(attention__head_count_kv=3)], "shares 3 KV heads among 4 heads"),
    "odd rotation": ([keys(rope__dimension_count_swa=7)], "rotates 7 of 16 numbers per head"),
    "no rope base": ([keys(rope__freq_base=0.0)], "says 0.0 under"),
    "no feed-forward": ([keys(feed_forward_length=0)], "without a feed-forward part"),
    "used experts": ([keys(expert_used_count=1)], "claims to use 1 of 0 experts"),
    "scale in half precision": (
        [tensor("blk.0.layer_output_scale.weight", (1,), F16)],
        "as F16, which must be F32",
    ),
    "fewer tokens than rows": (
        [other(tokenizer__ggml__tokens=["a", "b"])],
        "has 2 tokens in its tokenizer but 24 in its embedding",
    ),
}


@pytest.mark.parametrize("name", BAD_DRAFTERS)
def test_bad_drafters(tmp_path: Path, name: str) -> None:
    changes, phrase = BAD_DRAFTERS[name]
    path = tmp_path / "d.gguf"
    with pytest.raises(BadModelFile) as caught:
        drafter_at(path, *changes)
    check_sentence(str(caught.value), path, phrase)


def test_every_tensor_of_a_drafter_is_needed(tmp_path: Path) -> None:
    for name in tiny_drafter().tensors:
        with pytest.raises(BadModelFile, match=f"lacks the tensor '{name}'"):
            drafter_at(tmp_path / "d.gguf", without(name))

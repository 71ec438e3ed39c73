"""Which files are refused as targets, and what is said of them.

They abort llama.cpp, or load and answer nonsense, unless a comment says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from gemma_local.models.errors import BadModelFile
from tests.models.changes import (
    Change,
    check_sentence,
    keys,
    other,
    renamed,
    target_at,
    tensor,
    without,
)
from tests.models.gguf_bytes import F16, I32, Typed
from tests.models.tiny_models import FULL_HEAD, WIDTH, tiny_target

# Files that are no target


KINDS: dict[str, tuple[Sequence[Change], str]] = {
    "drafter": ([renamed("gemma4-assistant")], "Give it with --drafter"),
    "eagle": ([renamed("eagle3")], "Give it with --drafter"),
    "fork's drafter": ([renamed("gemma4_assistant")], "converted for another program (gemma4_a"),
    "ik's drafter": ([renamed("gemma4_mtp")], "named mtp-*.gguf"),
    "drafter in disguise": (
        [keys(assistant__type="mtp")],
        "converted for another program (gemma4)",
    ),
    "projector": ([renamed("clip")], "is a projector (mmproj)"),
    "projector by type": ([other(general__type="mmproj")], "is a projector (mmproj)"),
    "adapter": ([other(general__type="adapter")], "is an adapter (LoRA"),
    "control vector": ([renamed("controlvector")], "is an adapter (LoRA"),
    "importance matrix": ([other(general__type="imatrix")], "is an importance matrix"),
    "encoder": ([renamed("bert")], "is an embedding model (bert)"),
    "pooled": ([keys(pooling_type=1)], "is an embedding model (gemma4)"),
    "not causal": ([keys(attention__causal=False)], "is an embedding model (gemma4)"),
    "diffusion": ([renamed("llada")], "is a diffusion model (llada)"),
    "speech": ([renamed("qwen3tts")], "is a speech model"),
    "nameless": ([without("general.architecture")], "does not say what kind of model it is"),
    "number for a name": ([other(general__architecture=3)], "does not say what kind of model"),
}


@pytest.mark.parametrize("name", KINDS)
def test_files_that_are_no_target(tmp_path: Path, name: str) -> None:
    changes, phrase = KINDS[name]
    path = tmp_path / "m.gguf"
    with pytest.raises(BadModelFile) as caught:
        target_at(path, *changes)
    check_sentence(str(caught.value), path, phrase)


# Targets that are refused


BLOCK = "blk.2."
BAD_TARGETS: dict[str, tuple[Sequence[Change], str]] = {
    "no layers": ([keys(block_count=0)], "claims 0 layers"),
    "too many layers": ([keys(block_count=513)], "claims 513 layers, where 1 to 512"),
    "no layer count": ([without("block_count")], "lacks the number 'gemma4.block_count'"),
    "layer count in words": ([keys(block_count="four")], "holds no whole number"),
    "negative layer count": ([keys(block_count=Typed("i32", -4))], "says -4 under"),
    "more predicting layers": (
        [keys(nextn_predict_layers=5)],
        "claims 5 predicting layers among 4",
    ),
    # llama.cpp throws.
    "predicting layers": ([keys(nextn_predict_layers=1)], "has predicting layers inside"),
    "no width": ([keys(embedding_length=0)], "says 0 under 'gemma4.embedding_length'"),
    "other output width": ([keys(embedding_length_out=32)], "output width of 32 and a width of 64"),
    "no context": ([keys(context_length=0)], "says 0 under 'gemma4.context_length'"),
    "no heads": ([keys(attention__head_count=0)], "no attention heads in layer 0"),
    "no feed-forward": ([keys(feed_forward_length=0)], "without a feed-forward part"),
    "feed-forward of 3 layers": (
        [keys(feed_forward_length=[96, 96, 96])],
        "lists 3 numbers under 'gemma4.feed_forward_length' for 4 layers",
    ),
    "KV heads of 5 layers": (
        [keys(attention__head_count_kv=[1] * 5)],
        "lists 5 numbers under 'gemma4.attention.head_count_kv' for 4 layers",
    ),
    "indivisible heads": (
        [keys(attention__head_count_kv=[2, 3, 2, 1])],
        "shares 3 KV heads among 4 heads in layer 1",
    ),
    "no KV heads": (
        [keys(attention__head_count_kv=[2, 1, 0, 1])],
        "shares 0 KV heads among 4 heads in layer 2",
    ),
    "keys unlike values": (
        [keys(attention__value_length=16)],
        "has keys of length 32 but values of length 16.",
    ),
    "sliding keys unlike values": (
        [keys(attention__key_length_swa=32)],
        "keys of length 32 but values of length 16 in its sliding layers",
    ),
    "keys of no length": (
        [keys(attention__key_length=0, attention__value_length=0)],
        "has keys of length 0",
    ),
    "no sliding key length": ([without("attention.key_length_swa")], "lacks the number"),
    "no window": ([keys(attention__sliding_window=0)], "has a sliding window of 0 tokens"),
    "window missing": (
        [without("attention.sliding_window")],
        "lacks the number 'gemma4.attention.sliding_window'",
    ),
    "endless window": (
        [keys(attention__sliding_window=2**32 - 1)],
        "has a sliding window of 4294967295 tokens",
    ),
    "no pattern": (
        [without("attention.sliding_window_pattern")],
        "lacks the list 'gemma4.attention.sliding_window_pattern'",
    ),
    "one number as pattern": (
        [keys(attention__sliding_window_pattern=6)],
        "holds no list of yes and no",
    ),
    "short pattern": (
        [keys(attention__sliding_window_pattern=[True, False])],
        "lists 2 entries under 'gemma4.attention.sliding_window_pattern' for 4 layers",
    ),
    "all full": (
        [keys(attention__sliding_window_pattern=[False] * 4)],
        "names no layer with a sliding window",
    ),
    "sliding end": (
        [keys(attention__sliding_window_pattern=[False, True, False, True])],
        "does not end in a sliding and a full attention layer",
    ),
    "two full at the end": (
        [keys(attention__sliding_window_pattern=[True, True, False, False])],
        "does not end in a sliding and a full attention layer",
    ),
    "all shared": ([keys(attention__shared_kv_layers=4)], "shares the KV cache of 4 of its 4"),
    "more than all shared": ([keys(attention__shared_kv_layers=9)], "shares the KV cache of 9"),
    "one owner": ([keys(attention__shared_kv_layers=3)], "at least two must own one"),
    "full layer reuses sliding": (
        [keys(attention__shared_kv_layers=1)],
        "lets layer 3 (full) reuse the KV cache of layer 2 (sliding)",
    ),
    "sliding layer reuses full": (
        [
            keys(
                attention__shared_kv_layers=2,
                attention__sliding_window_pattern=[False, False, True, False],
            )
        ],
        "lets layer 2 (sliding) reuse the KV cache of layer 0 (full)",
    ),
    "shared layer of another shape": (
        [keys(attention__shared_kv_layers=2, attention__head_count_kv=[2, 1, 4, 1])],
        "lets layer 2 (4 KV heads of 16) reuse the KV cache of layer 0 (2 KV heads of 16)",
    ),
    # llama.cpp does not return from this one.
    "no rotation": ([keys(rope__dimension_count=0)], "rotates 0 of 32 numbers per head"),
    "odd rotation": ([keys(rope__dimension_count=15)], "rotates 15 of 32 numbers per head"),
    "wide rotation": ([keys(rope__dimension_count=64)], "rotates 64 of 32 numbers per head"),
    "sliding rotation left out": (
        [without("rope.dimension_count_swa")],
        "rotates 32 of 16 numbers per head in its sliding layers",
    ),
    "unknown stretching": ([keys(rope__scaling__type="magic")], "unknown way 'magic'"),
    "negative epsilon": (
        [keys(attention__layer_norm_rms_epsilon=-1.0)],
        "says -1.0 under 'gemma4.attention.layer_norm_rms_epsilon'",
    ),
    "no epsilon": ([without("attention.layer_norm_rms_epsilon")], "lacks the number"),
    "epsilon in words": ([keys(attention__layer_norm_rms_epsilon="x")], "holds no number"),
    "endless rope base": ([keys(rope__freq_base=float("inf"))], "says inf under"),
    "no rope base": ([keys(rope__freq_base_swa=0.0)], "says 0.0 under 'gemma4.rope.freq_base_swa'"),
    "negative cap": ([keys(final_logit_softcapping=-30.0)], "says -30.0 under"),
    "too many experts": ([keys(expert_count=1025)], "claims 1025 experts"),
    "more used than there": ([keys(expert_used_count=2)], "claims to use 2 of 0 experts"),
    "experts unused": ([keys(expert_count=4, expert_used_count=0)], "of which it uses none"),
    "as many groups as experts": (
        [keys(expert_count=4, expert_used_count=2, expert_group_count=4)],
        "claims 4 groups of 4 experts",
    ),
    "groups that do not divide": (
        [keys(expert_count=4, expert_used_count=2, expert_group_count=3)],
        "claims 0 of 3 groups of 4 experts",
    ),
    "no per-layer key": ([without("embedding_length_per_layer_input")], "lacks the number"),
    "no tokenizer": ([without("tokenizer.ggml.model")], "holds no tokenizer"),
    "tokenizer left out": ([other(tokenizer__ggml__model="none")], "holds no tokenizer"),
    "tokenizer of another kind": (
        [other(tokenizer__ggml__model="llama")],
        "has a tokenizer of the kind 'llama', which no Gemma 4 has",
    ),
    "no tokens": ([without("tokenizer.ggml.tokens")], "holds no tokenizer"),
    "empty tokens": ([other(tokenizer__ggml__tokens=Typed("str", []))], "holds no tokenizer"),
    "numbers as tokens": ([other(tokenizer__ggml__tokens=[1, 2])], "holds no list of texts"),
    "fewer tokens than rows": (
        [other(tokenizer__ggml__tokens=["a", "b", "c"])],
        "has 3 tokens in its tokenizer but 24 in its embedding",
    ),
    "equal tokens": (
        [other(tokenizer__ggml__tokens=["a", *(f"t{i}" for i in range(22)), "a"])],
        "lists the same token twice",
    ),
    "no first token": (
        [without("tokenizer.ggml.bos_token_id")],
        "to begin a text with (bos_token_id)",
    ),
    "first token outside": ([other(tokenizer__ggml__bos_token_id=24)], "(bos_token_id)"),
    "no last token": (
        [without("tokenizer.ggml.eos_token_id"), other(tokenizer__ggml__add_eos_token=True)],
        "to end a text with (eos_token_id)",
    ),
    # llama.cpp throws for missing tensors.
    "no embedding": ([without("token_embd.weight")], "lacks the tensor 'token_embd.weight'"),
    "embedding of one row": ([tensor("token_embd.weight", (64,))], "in the shape [64]"),
    "no output norm": ([without("output_norm.weight")], "lacks the tensor 'output_norm.weight'"),
    "no rotation factors": ([without("rope_freqs.weight")], "lacks the tensor 'rope_freqs.weight'"),
    "no per-layer table": (
        [keys(embedding_length_per_layer_input=8)],
        "lacks the tensor 'per_layer_token_embd.weight'",
    ),
    "norm in half precision": (
        [tensor("output_norm.weight", (WIDTH,), F16)],
        "'output_norm.weight' as F16, which must be F32",
    ),
    "rotation factors in half precision": (
        [tensor("rope_freqs.weight", (FULL_HEAD // 2,), F16)],
        "'rope_freqs.weight' as F16, which must be F32",
    ),
    "matrix of whole numbers": (
        [tensor(f"{BLOCK}ffn_up.weight", (WIDTH, 96), I32)],
        "'blk.2.ffn_up.weight' as I32, which cannot be multiplied",
    ),
}


@pytest.mark.parametrize("name", BAD_TARGETS)
def test_bad_targets(tmp_path: Path, name: str) -> None:
    changes, phrase = BAD_TARGETS[name]
    path = tmp_path / "m.gguf"
    with pytest.raises(BadModelFile) as caught:
        target_at(path, *changes)
    check_sentence(str(caught.value), path, phrase)


def test_every_tensor_of_a_target_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    for name in tiny_target(shared=2, per_layer=True, experts=True).tensors:
        model = tiny_target(shared=2, per_layer=True, experts=True)
        del model.tensors[name]
        if name.endswith("ffn_gate_inp.weight"):
            continue  # Without its router a layer counts as a dense one.
        with pytest.raises(BadModelFile, match="lacks the tensor"):
            target_at(path, model=model)


def test_a_target_without_layers(tmp_path: Path) -> None:
    model = tiny_target()
    model.tensors = {k: v for k, v in model.tensors.items() if not k.startswith("blk.")}
    with pytest.raises(BadModelFile, match="has no layers"):
        target_at(tmp_path / "m.gguf", model=model)

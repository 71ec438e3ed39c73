"""Which drafter fits which target, and which of the files around a target is its drafter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from gemma_local.models.errors import BadPair
from gemma_local.models.pair import check_pair, find_drafter
from gemma_local.models.target import TargetFacts
from tests.models.changes import (
    Change,
    drafter_at,
    keys,
    other,
    renamed,
    target_at,
    tensor,
    without,
)
from tests.models.tiny_models import VOCABULARY, tiny_drafter, tiny_target, write


def test_a_pair_that_fits(tmp_path: Path) -> None:
    for shared in (0, 2):
        target = target_at(tmp_path / "m.gguf", model=tiny_target(shared=shared))
        check_pair(target, drafter_at(tmp_path / "d.gguf"))


def test_a_drafter_without_tokens_fits_by_its_size(tmp_path: Path) -> None:
    bare = drafter_at(tmp_path / "d.gguf", without("tokenizer.ggml.tokens"))
    assert (bare.vocab_size, bare.token_digest) == (VOCABULARY, "")
    check_pair(target_at(tmp_path / "m.gguf"), bare)


OTHER_TOKENS = [f"u{i}" for i in range(VOCABULARY)]
MISFITS: dict[str, tuple[Sequence[Change], str]] = {
    "width": (
        [keys(embedding_length_out=2560)],
        "it is made for a width of 2560 (E4B) and the model has 64",
    ),
    "vocabulary": (
        [
            tensor("token_embd.weight", (32, 3)),
            other(tokenizer__ggml__tokens=["a", "b", "c"]),
        ],
        "it knows 3 tokens and the model 24",
    ),
    "tokens": (
        [other(tokenizer__ggml__tokens=OTHER_TOKENS)],
        "its list of 24 tokens is not the model's",
    ),
    "window": (
        [keys(attention__sliding_window=32)],
        "its sliding window is 32 tokens and the model's 64",
    ),
    "sliding KV heads": (
        [keys(attention__head_count_kv=[4, 1])],
        "its sliding layer 0 reads 4 KV heads of 16 and the model's last sliding layer keeps 2 KV",
    ),
    "full KV heads": (
        [keys(attention__head_count_kv=[2, 2])],
        "its full layer 1 reads 2 KV heads of 32 and the model's last full layer keeps 1 KV head",
    ),
    "head size": (
        [keys(attention__key_length=64, attention__value_length=64, rope__dimension_count=64)],
        "its full layer 1 reads 1 KV head of 64",
    ),
}


@pytest.mark.parametrize("name", MISFITS)
def test_pairs_that_do_not_fit(tmp_path: Path, name: str) -> None:
    changes, phrase = MISFITS[name]
    target = target_at(tmp_path / "model.gguf")
    drafter = drafter_at(tmp_path / "drafter.gguf", *changes)
    with pytest.raises(BadPair) as caught:
        check_pair(target, drafter)
    text = str(caught.value)
    assert phrase in text
    assert "drafter.gguf does not fit model.gguf" in text
    assert text.endswith(".")


def test_only_gemma4_has_drafters(tmp_path: Path) -> None:
    target = target_at(tmp_path / "m.gguf", renamed("llama"))
    with pytest.raises(BadPair, match=r"drafts for Gemma 4 only, and m\.gguf is a llama model"):
        check_pair(target, drafter_at(tmp_path / "d.gguf"))
    assert find_drafter(target) is None


# Drafters beside a target


def found(target: TargetFacts) -> str | None:
    drafter = find_drafter(target)
    return None if drafter is None else drafter.path.relative_to(target.path.parent).as_posix()


def test_no_drafter_around(tmp_path: Path) -> None:
    target = target_at(tmp_path / "m.gguf")
    assert found(target) is None
    write(tmp_path / "other.gguf", tiny_target())
    (tmp_path / "broken.gguf").write_bytes(b"<html>")
    (tmp_path / "empty.gguf").write_bytes(b"")
    (tmp_path / "folder.gguf").mkdir()
    (tmp_path / "notes.txt").write_text("no model", encoding="utf-8")
    misfit = tiny_drafter()
    keys(attention__sliding_window=32)(misfit)
    write(tmp_path / "mtp-m.gguf", misfit)
    (tmp_path / "MTP").write_text("no folder", encoding="utf-8")
    assert found(target) is None


def test_the_name_does_not_matter(tmp_path: Path) -> None:
    target = target_at(tmp_path / "m.gguf")
    write(tmp_path / "zzz.GGUF", tiny_drafter())
    assert found(target) == "zzz.GGUF"


def test_a_drafter_in_its_own_folder(tmp_path: Path) -> None:
    target = target_at(tmp_path / "m.gguf")
    write(tmp_path / "MTP" / "m-Q8_0-MTP.gguf", tiny_drafter())
    assert found(target) == "MTP/m-Q8_0-MTP.gguf"


def test_of_several_drafters_the_nearest_name_wins(tmp_path: Path) -> None:
    target = target_at(tmp_path / "gemma-4-12B-it-qat-Q4_0.gguf")
    write(tmp_path / "mtp-gemma-4-12B-it.gguf", tiny_drafter())
    write(tmp_path / "mtp-gemma-4-12B-it-qat.gguf", tiny_drafter())
    write(tmp_path / "MTP" / "a.gguf", tiny_drafter())
    assert found(target) == "mtp-gemma-4-12B-it-qat.gguf"


def test_of_equal_names_the_smaller_file_wins(tmp_path: Path) -> None:
    target = target_at(tmp_path / "gemma-4.gguf")
    large = tiny_drafter()
    large.metadata["general.description"] = "x" * 4000
    write(tmp_path / "mtp-gemma-4-a.gguf", large)
    write(tmp_path / "mtp-gemma-4-b.gguf", tiny_drafter())
    assert found(target) == "mtp-gemma-4-b.gguf"


def test_the_target_itself_may_be_gone(tmp_path: Path) -> None:
    target = target_at(tmp_path / "deep" / "m.gguf")
    target.path.unlink()
    target.path.parent.rmdir()
    assert find_drafter(target) is None

"""The special tokens of other models' files."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemma_local.models.gguf import GgufFile, Value
from gemma_local.models.guest_tokens import GuestTokens, read_guest_tokens

TOKENS = ("<unk>", "<s>", "</s>", "a", "\u2581\u2581", "<tool>", "<|im_end|>", "\n\n", "<bot>", "x")
TYPES = (2, 3, 3, 1, 4, 4, 1, 4, 1, 3)


def tokens_of(**keys: Value) -> GuestTokens:
    metadata = {f"tokenizer.ggml.{key}": value for key, value in keys.items()}
    return read_guest_tokens(GgufFile(Path("guest.gguf"), 3, metadata, {}, 0, 0, 32))


def test_control_and_user_defined_tokens_are_special_but_for_blanks_and_single_letters() -> None:
    tokens = tokens_of(model="llama", tokens=TOKENS, token_type=TYPES, eot_token_id=8)
    # <|im_end|> is made one by llama.cpp, <bot> is named by the file.
    special = {"<unk>", "<s>", "</s>", "<tool>", "<|im_end|>", "<bot>"}
    assert tokens.specials.texts == special
    assert (tokens.bos, tokens.eos) == ("<s>", "</s>")


@pytest.mark.parametrize("keys", [{}, {"tokens": 7}, {"tokens": ()}, {"bos_token_id": "x"}])
def test_a_file_without_tokens_has_none(keys: dict[str, Value]) -> None:
    tokens = tokens_of(model="llama", **keys)
    assert (tokens.bos, tokens.eos, tokens.specials.texts) == ("", "", frozenset())


def test_types_that_do_not_fit_are_no_types() -> None:
    assert tokens_of(tokens=TOKENS, token_type=(3, 3)).specials.texts == {"</s>", "<|im_end|>"}

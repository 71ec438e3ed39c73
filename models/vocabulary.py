"""The vocabulary inside a model file: how many tokens, and whether llama.cpp survives it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from gemma_local.models.architecture import GEMMA4
from gemma_local.models.header_reader import Value
from gemma_local.models.lazy_array import LazyArray
from gemma_local.models.metadata import Metadata

TOKENS_KEY = "tokenizer.ggml.tokens"
_NO_TOKENIZER = frozenset({"none", "no_vocab"})


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What must be known of a tokenizer before it is loaded."""

    model: str
    """``tokenizer.ggml.model``, such as ``gemma4``, ``llama`` or ``gpt2``."""
    size: int
    """Number of tokens."""
    digest: str
    """SHA-256 of the token texts: equal for two files with the same vocabulary."""


def read_vocabulary(meta: Metadata, rows: int) -> Vocabulary:
    """The vocabulary of a model that is given text.

    Args:
        meta: the model's metadata.
        rows: rows of the token embedding.

    Raises:
        BadModelFile: there is no tokenizer, its size is not ``rows``, or it would abort
            llama.cpp: two equal tokens (``llama_vocab::impl::load`` asserts that the token map is
            as large as the token list), no token to begin a Gemma 4 prompt with, or another
            kind of tokenizer in a Gemma 4, which lacks the byte tokens that kind needs.
    """
    model = meta.text("tokenizer.ggml.model")
    tokens = meta.file.metadata.get(TOKENS_KEY)
    if model is None or model in _NO_TOKENIZER or not tokens:
        raise meta.bad("holds no tokenizer, so it cannot read or write text")
    if meta.architecture == GEMMA4 and model != GEMMA4:
        raise meta.bad(f"has a tokenizer of the kind {model[:40]!r}, which no Gemma 4 has")
    vocabulary = _read(meta, model, tokens, rows)
    if _has_duplicates(tokens):
        raise meta.bad("lists the same token twice in its vocabulary")
    if model == GEMMA4:
        _check_special(meta, vocabulary.size)
    return vocabulary


def read_drafter_vocabulary(meta: Metadata, rows: int) -> Vocabulary:
    """The vocabulary of a drafter, whose texts are never used and may be left out.

    Equal tokens would abort here as well; comparing the list with the target's finds them.

    Args:
        meta: the drafter's metadata.
        rows: rows of its token embedding.

    Returns:
        With an empty digest if the file carries no token list.

    Raises:
        BadModelFile: the token list's size is not ``rows``.
    """
    model = meta.text("tokenizer.ggml.model") or "none"
    tokens = meta.file.metadata.get(TOKENS_KEY)
    if model in _NO_TOKENIZER or not tokens:
        return Vocabulary("none", rows, "")
    return _read(meta, model, tokens, rows)


def _read(meta: Metadata, model: str, tokens: Value, rows: int) -> Vocabulary:
    if isinstance(tokens, LazyArray) and tokens.element_type == "string":
        size, digest = len(tokens), tokens.digest()
    elif isinstance(tokens, tuple) and all(isinstance(token, str) for token in tokens):
        size, digest = len(tokens), _digest(tokens)
    else:
        raise meta.bad(f"holds no list of texts under {TOKENS_KEY!r}")
    if size != rows:
        raise meta.bad(f"has {size} tokens in its tokenizer but {rows} in its embedding")
    return Vocabulary(model, size, digest)


def _digest(tokens: tuple[object, ...]) -> str:
    # The encoding of LazyArray, so that equal lists have equal digests however they were read.
    total = hashlib.sha256()
    for token in tokens:
        raw = str(token).encode()
        total.update(len(raw).to_bytes(8, "little") + raw)
    return total.hexdigest()


def _has_duplicates(tokens: Value) -> bool:
    if isinstance(tokens, LazyArray):
        return tokens.has_duplicates()
    # Tokens that are no UTF-8 were decoded with a replacement and may only look alike.
    plain = [t for t in tokens if "\ufffd" not in str(t)] if isinstance(tokens, tuple) else []
    return len(set(plain)) != len(plain)


def _check_special(meta: Metadata, size: int) -> None:
    # llama.cpp turns add_bos_token on for every Gemma 4 and asserts that the token exists
    # (append_bos in src/llama-vocab.cpp); the vocabulary has no default for it.
    wanted = {"bos_token_id": "begin"}
    if meta.file.metadata.get("tokenizer.ggml.add_eos_token") is True:
        wanted["eos_token_id"] = "end"
    for key, verb in wanted.items():
        token = meta.file.metadata.get(f"tokenizer.ggml.{key}")
        if isinstance(token, bool) or not isinstance(token, int) or not 0 <= token < size:
            raise meta.bad(f"names no token of its vocabulary to {verb} a text with ({key})")

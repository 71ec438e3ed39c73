"""A tokenizer as large as Gemma 4's, of made-up tokens, written as bytes because it is so large."""

from __future__ import annotations

import struct

from gguf import GGUFValueType

from tests.ggufs.raw_gguf import RawVocabulary

TOKENS, MERGES = 262144, 514906


def made_up_vocabulary() -> RawVocabulary:
    """As many tokens and merges as the real one has, about as long as these."""
    # Each with its length in front, as GGUF stores texts.
    tokens = b"".join(b"\x07\0\0\0\0\0\0\0t%06d" % i for i in range(TOKENS))
    merges = b"".join(b"\x0b\0\0\0\0\0\0\0%05d %05d" % (i % 9999, i % 99999) for i in range(MERGES))
    keys = (
        _key("model", GGUFValueType.STRING) + _text("gemma4"),
        _array("tokens", GGUFValueType.STRING, TOKENS) + tokens,
        _array("scores", GGUFValueType.FLOAT32, TOKENS) + bytes(4 * TOKENS),
        _array("token_type", GGUFValueType.INT32, TOKENS) + b"\x01\0\0\0" * TOKENS,
        _array("merges", GGUFValueType.STRING, MERGES) + merges,
        _key("bos_token_id", GGUFValueType.UINT32) + struct.pack("<I", 2),
    )
    return RawVocabulary(keys, {f"t{i:06}": i for i in range(TOKENS)})


def _key(name: str, kind: GGUFValueType) -> bytes:
    return _text(f"tokenizer.ggml.{name}") + struct.pack("<I", kind)


def _array(name: str, kind: GGUFValueType, count: int) -> bytes:
    return _key(name, GGUFValueType.ARRAY) + struct.pack("<IQ", kind, count)


def _text(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw

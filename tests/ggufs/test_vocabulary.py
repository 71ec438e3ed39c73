"""The tokenizer block."""

from __future__ import annotations

from gguf import TokenType

from tests.ggufs.vocabulary import EOG, SPACE, USER_DEFINED, byte_tokens, vocabulary


def test_tokens_are_unique_and_cover_every_byte() -> None:
    words = vocabulary(["a piece", "<|turn>", "the"], size=900)
    assert len(words) == len(words.ids) == 900
    assert sum(kind == TokenType.BYTE for kind in words.types) == 256
    assert [words.text(words.id(f"<0x{byte:02X}>")) for byte in (0, 65, 255)] == [
        b"\0",
        b"A",
        b"\xff",
    ]


def test_types_are_those_of_the_real_files() -> None:
    words = vocabulary()
    assert words.types[words.id("<|turn>")] == TokenType.CONTROL
    for name in USER_DEFINED:
        assert words.types[words.id(name)] == TokenType.USER_DEFINED
    assert words.types[words.id("</s>")] == TokenType.NORMAL
    assert set(EOG) <= set(words.tokens)


def test_merges_lead_through_tokens_to_words() -> None:
    words = vocabulary()
    for merge in words.merges:
        left, right = merge.split(" ")
        assert {left, right, left + right} <= set(words.tokens)
    # Merges of words with a space come first, else "m o" would tear "▁model" apart.
    starts = [merge.startswith(SPACE) for merge in words.merges]
    assert starts == sorted(starts, reverse=True)


def test_pieces_print_themselves() -> None:
    words = vocabulary([" with spaces", "x" * 300])
    assert words.text(words.id(" with spaces")) == b" with spaces"
    assert len(words.text(words.id("x" * 300))) == 300
    assert words.text(words.id("<bos>")) == b""
    assert byte_tokens("é") == ["<0xC3>", "<0xA9>"]

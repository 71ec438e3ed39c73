"""A small but complete ``gemma4`` tokenizer: control tokens, bytes, characters, words, pieces.

Any text tokenises: what no word or character covers goes through the 256 byte tokens. Ids are not
those of the real vocabulary, so a program that hard-codes ids fails here, as it should.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from gguf import GGUFWriter, TokenType

SPACE = "\u2581"  # how the tokenizer writes a space
EOG = ("<eos>", "<turn|>", "<|tool_response>")
# What a drafter proposes where it is meant to be wrong. No script says it, so it must never be
# seen.
WRONG = " wrong"

CONTROL = (
    "<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "<|tool>", "<tool|>", "<|think|>",
    "<|turn>", "<turn|>", "<|image>", "<|image|>", "<image|>", "<|audio>", "<|audio|>",
    "<audio|>", "<|video|>",
)  # fmt: skip
# Always rendered as text, also without special=True, and always matched in text.
USER_DEFINED = (
    "<|tool_call>", "<tool_call|>", "<|tool_response>", "<tool_response|>", '<|"|>',
    "<|channel>", "<channel|>",
)  # fmt: skip
# Look special, but are ordinary tokens in the real vocabulary, too.
PLAIN_MARKERS = ("[multimodal]", "<unused0>", "<unused49>", "</s>")
NEWLINES = tuple("\n" * count for count in range(1, 6))
SPACES = tuple(SPACE * count for count in (2, 3, 4, 8))
CHARACTERS = (SPACE, "\t", *(chr(code) for code in range(33, 127)), *"äöüß€")
WORDS = (
    " the", " a", " is", " of", " to", " and", " in", " it", " you", " for", " on", " that",
    " file", " read", " write", " code", " what", " how", " hello", " please", " list", " test",
    " name", " run", " not", " say", WRONG, "model", "user", "system", "thought", "call",
    "response", "declaration", "def", "return", "import", "path", "value", "description", "Hello",
    "The",
)  # fmt: skip


@dataclass(frozen=True)
class Vocabulary:
    """Tokens in id order, their types, and the merges that make words of characters."""

    tokens: tuple[str, ...]
    types: tuple[TokenType, ...]
    merges: tuple[str, ...]

    @cached_property
    def ids(self) -> dict[str, int]:
        """Token text as stored (spaces as U+2581) -> id."""
        return {token: index for index, token in enumerate(self.tokens)}

    def __len__(self) -> int:
        return len(self.tokens)

    def id(self, piece: str) -> int:
        """Id of a token by name: ``<|turn>``, ``<0xE2>``, or ordinary text with plain spaces."""
        return self.ids[stored(piece)]

    def text(self, token: int) -> bytes:
        """What the token prints (control tokens print nothing)."""
        stored_text, kind = self.tokens[token], self.types[token]
        if kind == TokenType.BYTE:
            return bytes([int(stored_text[3:5], 16)])
        if kind == TokenType.CONTROL:
            return b""
        if kind == TokenType.USER_DEFINED:
            return stored_text.encode()
        return stored_text.replace(SPACE, " ").encode()

    def write(self, writer: GGUFWriter, template: str) -> None:
        """The tokenizer block as llama.cpp's converter writes it for Gemma 4."""
        writer.add_tokenizer_model("gemma4")
        writer.add_token_list(self.tokens)
        # The real files carry the same meaningless score for every token.
        writer.add_token_scores([-1000.0] * len(self.tokens))
        writer.add_token_types(self.types)
        writer.add_token_merges(self.merges)
        for name, add in (
            ("<bos>", writer.add_bos_token_id),
            ("<eos>", writer.add_eos_token_id),
            ("<unk>", writer.add_unk_token_id),
            ("<pad>", writer.add_pad_token_id),
            ("<mask>", writer.add_mask_token_id),
        ):
            add(self.ids[name])
        writer.add_chat_template(template)
        writer.add_add_space_prefix(False)
        writer.add_add_bos_token(True)


def stored(piece: str) -> str:
    """A piece of text as the vocabulary stores it."""
    return piece.replace(" ", SPACE)


def byte_tokens(text: str) -> list[str]:
    """Names of the byte tokens that spell ``text`` in UTF-8: "é" -> ["<0xC3>", "<0xA9>"]."""
    return [f"<0x{byte:02X}>" for byte in text.encode()]


def vocabulary(pieces: Iterable[str] = (), size: int = 0) -> Vocabulary:
    """The base vocabulary and every piece it lacks, padded with ``<unusedN>`` up to ``size``."""
    tokens = dict.fromkeys(CONTROL, TokenType.CONTROL)
    tokens |= dict.fromkeys(USER_DEFINED, TokenType.USER_DEFINED)
    tokens |= dict.fromkeys([*PLAIN_MARKERS, *NEWLINES], TokenType.NORMAL)
    tokens |= {f"<0x{byte:02X}>": TokenType.BYTE for byte in range(256)}
    merges = _merges()
    built = [merge.replace(" ", "") for merge in merges]
    for name in (*CHARACTERS, *SPACES, *built, *map(stored, pieces)):
        tokens.setdefault(name, TokenType.NORMAL)
    filler = 100
    while len(tokens) < size:
        tokens[f"<unused{filler}>"] = TokenType.NORMAL
        filler += 1
    return Vocabulary(tuple(tokens), tuple(tokens.values()), tuple(merges))


def _merges() -> list[str]:
    """ "left right" pairs, the ones that start with a space first.

    llama.cpp merges over a whole line, lowest rank first: were "m o" ranked before "▁ m", the word
    "▁model" would fall apart. Every intermediate of a word is a token, so no merge ends in bytes.
    """
    words = sorted(map(stored, WORDS), key=lambda word: not word.startswith(SPACE))
    pairs = [f"{word[:end]} {word[end]}" for word in words for end in range(1, len(word))]
    runs = [(1, 1), (2, 1), (2, 2), (4, 4)]
    blanks = [f"{SPACE * left} {SPACE * right}" for left, right in runs]
    return list(dict.fromkeys([*blanks, *pairs]))

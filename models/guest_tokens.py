"""The special tokens of another model's file: the two that templates name, and all there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gemma_local.models.gguf import GgufFile
from gemma_local.models.lazy_array import LazyArray
from gemma_local.models.special_texts import SpecialTexts
from gemma_local.models.vocabulary import TOKENS_KEY

_DEFAULT_IDS: Final = {"llama": (1, 2), "gpt2": (11, 11)}
"""BOS and EOS of files that do not name them, per tokenizer, as llama.cpp assumes them."""

_PARSED_TYPES: Final = frozenset({2, 3, 4})
"""UNKNOWN, CONTROL and USER_DEFINED (``llama_token_type``), which llama.cpp finds in markup."""

_BAR: Final = "\uff5c"
_BLANK: Final = "\u2581"
_ALWAYS_CONTROL: Final = frozenset(
    {
        *("<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>", "</s>"),
        *("<|end_of_text|>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]", "<end_of_utterance>"),
        *("<|eom_id|>", "<|return|>", "<|call|>", "<|flush|>", "<|calls|>"),
        *("<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<PRE>", f"{_BLANK}<PRE>"),
        *("<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<SUF>", f"{_BLANK}<SUF>"),
        *("<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<MID>", f"{_BLANK}<MID>"),
        *("<|code_prefix|>", "<|code_suffix|>", "<|code_middle|>"),
        *("<|prefix|>", "<|suffix|>", "<|middle|>"),
        *("<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]", "<|fim_repo|>"),
        *("<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>", "<|file_sep|>"),
        f"<{_BAR}end{_BLANK}of{_BLANK}sentence{_BAR}>",
        *(f"<{_BAR}fim{_BLANK}{name}{_BAR}>" for name in ("begin", "hole", "end")),
    }
)
"""Texts that llama.cpp makes control tokens of, whatever their type (``llama_vocab::impl``)."""


@dataclass(frozen=True, slots=True)
class GuestTokens:
    """Texts of a vocabulary's special tokens; ``bos`` and ``eos`` may be empty."""

    bos: str
    eos: str
    specials: SpecialTexts


def read_guest_tokens(file: GgufFile) -> GuestTokens:
    """Read them from a header. What is missing or of no use there counts as absent.

    Blank tokens, such as runs of spaces, are no markers, although some files have them as
    USER_DEFINED: ordinary text is full of them.
    """
    texts = _texts(file)
    types = file.metadata.get("tokenizer.ggml.token_type")
    kinds = types.decode() if isinstance(types, LazyArray) else types
    if not isinstance(kinds, tuple) or len(kinds) != len(texts):
        kinds = (0,) * len(texts)
    bos, eos = _DEFAULT_IDS.get(str(file.metadata.get("tokenizer.ggml.model")), (-1, -1))
    specials = {
        text
        for text, kind in zip(texts, kinds, strict=True)
        if (kind in _PARSED_TYPES or text in _ALWAYS_CONTROL) and text.strip(f" \t\r\n{_BLANK}")
    }
    named = {text for key in _NAMED if (text := _text_of(file, texts, key, -1))}
    return GuestTokens(
        _text_of(file, texts, "bos", bos),
        _text_of(file, texts, "eos", eos),
        SpecialTexts(specials | named),
    )


_NAMED: Final = ("bos", "eos", "eot", "eom", "padding", "unknown", "seperator", "mask")
"""As in ``tokenizer.ggml.*_token_id``, with the format's own spelling."""


def _texts(file: GgufFile) -> tuple[str, ...]:
    tokens = file.metadata.get(TOKENS_KEY)
    texts = tokens.decode() if isinstance(tokens, LazyArray) else tokens
    return tuple(map(str, texts)) if isinstance(texts, tuple) else ()


def _text_of(file: GgufFile, texts: tuple[str, ...], name: str, default: int) -> str:
    token = file.metadata.get(f"tokenizer.ggml.{name}_token_id", default)
    return texts[token] if isinstance(token, int) and 0 <= token < len(texts) else ""

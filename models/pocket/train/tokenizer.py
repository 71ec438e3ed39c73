"""The vocabulary: Gemma 4's control tokens, 256 bytes, and pieces of words learned from a corpus.

llama.cpp's ``gemma4`` tokenizer writes a space as U+2581 and merges over a whole line. The pieces
are learned on text that was split before (letters, single digits, signs, blanks, newlines), so no
merge crosses such a border, but for those that put a space in front, and both give the same ids.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gemma_local.models.chat_format import MARKERS
from gemma_local.models.gguf import read_gguf
from gemma_local.models.prompt import Control, Ids, Markup, Prompt, Text

if TYPE_CHECKING:
    from gguf import GGUFWriter

SPACE: Final = "\u2581"
VISIBLE: Final = (
    *("<|channel>", "<channel|>", "<|tool_call>", "<tool_call|>", "<|tool_response>"),
    *("<tool_response|>", '<|"|>'),
)
"""Markers that come out as text too; all others print nothing."""
ENDS: Final = ("<eos>", "<turn|>", "<|tool_response>")
"""Tokens that end an answer."""
_BYTES: Final = tuple(f"<0x{byte:02X}>" for byte in range(256))
_SPLIT: Final = rf"\n+|{SPACE}+|[A-Za-z\u00c0-\u024f]+|[0-9]|[^A-Za-z\u00c0-\u024f0-9\n{SPACE}]"
_SPACED: Final = 1000
"""Pieces that have a second form with a space in front."""


class Tokenizer:
    """Text and prompts to ids and back. ``tokens`` in the order of their ids."""

    def __init__(self, tokens: Sequence[str], merges: Sequence[tuple[str, str]]) -> None:
        self.tokens = tuple(tokens)
        self.merges = tuple(merges)
        self.ids = {token: index for index, token in enumerate(self.tokens)}
        self.ends = frozenset(self.ids[name] for name in ENDS)
        self._known: dict[str, tuple[int, ...]] = {}

    @classmethod
    def learn(cls, texts: Iterable[str], size: int) -> Tokenizer:
        """A vocabulary of ``size`` tokens, learned from texts.

        Pieces are learned without spaces, and those that often begin a word get a form with one,
        by merges that come after all others. So a word has the same pieces wherever it stands, but
        for the space in the first one, and what was read behind a space can be copied behind a
        quote piece by piece.
        """
        from tokenizers import Regex, models, normalizers, pre_tokenizers, trainers
        from tokenizers import Tokenizer as Learner

        texts = [*texts]
        learner = Learner(models.BPE())
        learner.normalizer = normalizers.Replace(" ", SPACE)
        learner.pre_tokenizer = pre_tokenizers.Split(Regex(_SPLIT), "isolated")
        trainer: Any = trainers.BpeTrainer(
            vocab_size=size - len(MARKERS) - len(_BYTES) - _SPACED,
            initial_alphabet=[*map(chr, range(33, 127)), SPACE, "\n", "\t"],
            limit_alphabet=140,
            show_progress=False,
        )
        learner.train_from_iterator(texts, trainer)
        state = json.loads(learner.to_str())["model"]
        learned = sorted(state["vocab"], key=state["vocab"].__getitem__)
        merges = [tuple(m) if isinstance(m, list) else tuple(m.split(" ")) for m in state["merges"]]
        behind: Counter[str] = Counter()
        for found in learner.encode_batch(texts, add_special_tokens=False):
            behind.update(b for a, b in pairwise(found.tokens) if a == SPACE)
        spaced = [
            piece
            for piece, _ in behind.most_common()
            if not piece.startswith((SPACE, "\n")) and SPACE + piece not in state["vocab"]
        ][:_SPACED]
        return cls(
            [*MARKERS, *_BYTES, *learned, *(SPACE + piece for piece in spaced)],
            [*merges, *((SPACE, piece) for piece in spaced)],
        )

    @classmethod
    def load(cls, path: Path) -> Tokenizer:
        """What `save` wrote."""
        state = json.loads(path.read_text("utf-8"))
        return cls(state["tokens"], [tuple(pair) for pair in state["merges"]])

    @classmethod
    def of_file(cls, path: Path) -> Tokenizer:
        """The vocabulary of a GGUF file that `write` made."""
        metadata = read_gguf(path).metadata
        tokens: Any = metadata["tokenizer.ggml.tokens"]
        merges: Any = metadata["tokenizer.ggml.merges"]
        # A piece has no space: it writes U+2581 for one.
        pairs = [tuple(str(merge).split(" ")) for merge in merges]
        return cls([str(token) for token in tokens], [(one, other) for one, other in pairs])

    def save(self, path: Path) -> None:
        """Write the vocabulary as JSON."""
        state = {"tokens": self.tokens, "merges": self.merges}
        path.write_text(json.dumps(state, ensure_ascii=False, indent=0) + "\n", "utf-8")

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """What tokens print that are neither markers nor bytes nor breaks of lines."""
        texts = (token.replace(SPACE, " ") for token in self.tokens[len(MARKERS) + len(_BYTES) :])
        return tuple(text for text in texts if text.isprintable())

    def text_ids(self, text: str) -> tuple[int, ...]:
        """Ids of a text, in which no marker has a meaning."""
        known = self._known.get(text)
        if known is None:
            known = tuple(self._encoder.encode(text, add_special_tokens=False).ids)
            if len(self._known) < 200_000:
                self._known[text] = known
        return known

    def prompt_ids(self, prompt: Prompt) -> list[int]:
        """Ids of a prompt, piece by piece, as the engine makes them."""
        ids: list[int] = []
        for piece in prompt:
            match piece:
                case Control(token):
                    ids.append(self.ids[token])
                case Text(text):
                    ids.extend(self.text_ids(text))
                case Ids(known):
                    ids.extend(known)
                case Markup():
                    raise ValueError("Gemma 4's own format has no markup")
        return ids

    def text(self, ids: Iterable[int]) -> str:
        """What tokens print, markers included."""
        data = bytearray()
        for token in ids:
            name = self.tokens[token]
            if len(MARKERS) <= token < len(MARKERS) + len(_BYTES):
                data.append(int(name[3:5], 16))
            else:
                data += name.replace(SPACE, " ").encode()
        return data.decode("utf-8", "replace")

    def write(self, writer: GGUFWriter, template: str) -> None:
        """The tokenizer block as llama.cpp's converter writes it for Gemma 4."""
        from gguf import TokenType

        kinds = [TokenType.NORMAL] * len(self.tokens)
        for marker in MARKERS:
            is_visible = marker in VISIBLE
            kinds[self.ids[marker]] = TokenType.USER_DEFINED if is_visible else TokenType.CONTROL
        for byte in _BYTES:
            kinds[self.ids[byte]] = TokenType.BYTE
        kinds[self.ids["<unk>"]] = TokenType.UNKNOWN
        writer.add_tokenizer_model("gemma4")
        writer.add_token_list(self.tokens)
        writer.add_token_scores([-1000.0] * len(self.tokens))
        writer.add_token_types(kinds)
        writer.add_token_merges([" ".join(pair) for pair in self.merges])
        writer.add_bos_token_id(self.ids["<bos>"])
        writer.add_eos_token_id(self.ids["<eos>"])
        writer.add_unk_token_id(self.ids["<unk>"])
        writer.add_pad_token_id(self.ids["<pad>"])
        writer.add_mask_token_id(self.ids["<mask>"])
        if template:
            writer.add_chat_template(template)
        writer.add_add_space_prefix(False)
        writer.add_add_bos_token(True)

    @cached_property
    def _encoder(self) -> Any:
        from tokenizers import Regex, models, normalizers, pre_tokenizers
        from tokenizers import Tokenizer as Encoder

        encoder = Encoder(
            models.BPE(
                vocab=dict(self.ids), merges=list(self.merges), byte_fallback=True, fuse_unk=False
            )
        )
        encoder.normalizer = normalizers.Replace(" ", SPACE)
        encoder.pre_tokenizer = pre_tokenizers.Split(Regex(r"\n+"), "isolated")
        return encoder

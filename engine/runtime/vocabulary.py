"""A model's vocabulary: text to token ids and back, through llama.cpp's own tokenizer."""

from __future__ import annotations

import ctypes
from functools import cached_property
from typing import Any

import numpy as np

from gemma_local.engine.runtime.library import C
from gemma_local.models.chat_format import MARKERS
from gemma_local.models.errors import GemmaLocalError


class Vocabulary:
    """Tokenise, detokenise, and ask what kind of token an id is."""

    def __init__(self, pointer: Any) -> None:
        self._pointer = pointer
        self.size = int(C.llama_vocab_n_tokens(pointer))
        self.bos = int(C.llama_vocab_bos(pointer))
        self.adds_bos = bool(C.llama_vocab_get_add_bos(pointer))
        self._pieces: dict[int, bytes] = {}
        self._ends: dict[int, bool] = {}

    def tokenise(self, text: str, *, markup: bool) -> list[int]:
        """Token ids of ``text``, without BOS; with ``markup`` control strings become tokens.

        With ``markup`` off llama.cpp still matches USER_DEFINED tokens: use ``Encoder.text_ids``
        of ``engine.encoding`` for text that must stay text.
        """
        raw = text.encode("utf-8", "replace")
        capacity = len(raw) + 8
        while True:
            ids = (C.llama_token * capacity)()
            n = C.llama_tokenize(self._pointer, raw, len(raw), ids, capacity, False, markup)
            if n >= 0:
                return list(ids[:n])
            if -n <= capacity:
                raise GemmaLocalError("llama.cpp could not tokenise the prompt")
            capacity = -n

    def piece(self, token: int) -> bytes:
        """The bytes that ``token`` prints: nothing for control tokens, maybe part of a character.

        Pieces may be of any length (379 tokens of Gemma 4 are longer than 32 bytes).
        """
        piece = self._pieces.get(token)
        if piece is None:
            piece = self._pieces[token] = self._render(token, special=False)
        return piece

    def text_of(self, token: int) -> str:
        """The token's written form, control tokens included, for messages and look-ups."""
        return self._render(token, special=True).decode("utf-8", "replace")

    def _render(self, token: int, *, special: bool) -> bytes:
        size = 64
        while True:
            buffer = ctypes.create_string_buffer(size)
            n = C.llama_token_to_piece(self._pointer, token, buffer, size, 0, special)
            if n >= 0:
                return buffer.raw[:n]
            size = -n

    def ends_turn(self, token: int) -> bool:
        """Whether the model says with this token that it is done (EOS, end of turn, ...)."""
        end = self._ends.get(token)
        if end is None:
            end = self._ends[token] = bool(C.llama_vocab_is_eog(self._pointer, token))
        return end

    def find(self, marker: str) -> int | None:
        """The id of a control or user-defined token by its text, None when there is none."""
        ids = self.tokenise(marker, markup=True)
        return ids[0] if len(ids) == 1 and self.text_of(ids[0]) == marker else None

    def id_of(self, marker: str) -> int:
        """As ``find``; raises GemmaLocalError when the vocabulary has no such token."""
        token = self.find(marker)
        if token is None:
            raise GemmaLocalError(
                f"this model's vocabulary has no {marker}; it is not the Gemma 4 it claims to be"
            )
        return token

    @cached_property
    def markers(self) -> dict[str, int]:
        """The control tokens of Gemma 4's chat format that this vocabulary has, with their ids."""
        found = ((text, self.find(text)) for text in MARKERS)
        return {text: token for text, token in found if token is not None}

    @cached_property
    def suppressed(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Tokens that the file says must never be sampled."""
        n = ctypes.c_int32(0)
        pointer = C.llama_vocab_get_suppress_tokens(self._pointer, ctypes.byref(n))
        return np.array([pointer[i] for i in range(n.value)], dtype=np.int64)

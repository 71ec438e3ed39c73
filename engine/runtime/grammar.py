"""Output held to a grammar, by llama.cpp's grammar sampler."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gemma_local.engine.gbnf import BadGrammar, Gbnf
from gemma_local.engine.runtime.context import Floats
from gemma_local.engine.runtime.library import C, pointer_to
from gemma_local.engine.runtime.model import Model
from gemma_local.engine.runtime.vocabulary import Vocabulary

_CANDIDATE: Final = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
_CHARACTERS: Final = [chr(code) for code in (*range(1, 9), *range(14, 32))]


class Grammar:
    """What may come next by a grammar; a ``Constraint`` of the sampler.

    llama.cpp matches a token by the text that it prints, markers included, and knows token
    terminals as well; where one can be taken for the other it throws, and nothing catches that. So
    it never sees a marker: each token that the grammar names is told to it as a character that no
    text contains. A token that prints nothing, or is a marker, can only come where it is named.
    """

    def __init__(self, model: Model, text: str, produced: Iterable[int] = ()) -> None:
        """``text`` is GBNF with the root rule ``root``; ``produced`` tokens came already.

        Raises BadGrammar when the grammar cannot be used, or does not allow what was produced.
        """
        gbnf = Gbnf(text)
        vocabulary = model.vocabulary
        self._vocabulary = vocabulary
        self._told = _stand_ins(vocabulary, gbnf.tokens)
        stand_ins = {token: _character(vocabulary, told) for token, told in self._told.items()}
        self._vocab = C.llama_model_get_vocab(model.pointer)
        pointer = C.llama_sampler_init_grammar(
            self._vocab,
            gbnf.with_stand_ins(stand_ins).encode("utf-8", "replace"),
            b"root",
        )
        if not pointer:
            raise BadGrammar("llama.cpp cannot use the grammar; its log says why")
        self._pointer: Any = pointer
        weakref.finalize(self, C.llama_sampler_free, pointer)
        self._one = np.zeros(1, _CANDIDATE)
        markers = frozenset(vocabulary.markers.values()) - self._told.keys()
        self._markers = frozenset(token for token in markers if not vocabulary.ends_turn(token))
        self._hidden = frozenset(self._told.values())
        for token in produced:
            if not self.allows(token):
                raise BadGrammar("the grammar does not allow what was already said; start anew")
            self.accept(token)

    def allows(self, token: int) -> bool:
        """Whether ``token`` may come next."""
        if not self._can_come(token):
            return False
        self._one["id"] = self._told.get(token, token)
        self._one["logit"] = 0.0
        self._apply(self._one)
        return bool(self._one["logit"][0] == 0.0)

    def restrict(self, row: Floats) -> None:
        """Set the logits of tokens that may not come next to -inf, in place; shape (n_vocab,).

        Where nothing may come, the tokens that end the turn stay: a grammar that asks for what
        this vocabulary cannot say must not stop the engine.
        """
        candidates = np.zeros(row.size, _CANDIDATE)
        candidates["id"] = np.arange(row.size)
        self._apply(candidates)
        allowed = candidates["logit"] == 0.0
        allowed &= _speaking(self._vocab, self._vocabulary)
        allowed[[*self._markers, *self._hidden]] = False
        for token in self._told:
            allowed[token] = self.allows(token)
        if not (allowed & (row > -np.inf)).any():
            ends = (self._vocabulary.ends_turn(token) for token in range(row.size))
            allowed = np.fromiter(ends, np.bool_, row.size)
        row[~allowed] = -np.inf

    def accept(self, token: int) -> None:
        """Move on past an emitted token.

        One that may not come, such as the end of a thought that a limit ended, leaves the grammar
        where it is: it was not the model's choice, and llama.cpp would stop the process.
        """
        if self.allows(token):
            C.llama_sampler_accept(self._pointer, self._told.get(token, token))

    def _apply(self, candidates: NDArray[np.void]) -> None:
        array = C.llama_token_data_array()
        array.data = pointer_to(candidates, C.llama_token_data)
        array.size = candidates.size
        array.selected = -1
        C.llama_sampler_apply(self._pointer, ctypes.byref(array))

    def _can_come(self, token: int) -> bool:
        if token in self._told:
            return True
        if token in self._hidden or token in self._markers:
            return False
        return bool(_speaking(self._vocab, self._vocabulary)[token])


_SPEAKING: weakref.WeakKeyDictionary[Vocabulary, NDArray[np.bool_]] = weakref.WeakKeyDictionary()


def _speaking(pointer: Any, vocabulary: Vocabulary) -> NDArray[np.bool_]:
    """Which tokens print something or end the turn, shape (n_vocab,); worked out once."""
    found = _SPEAKING.get(vocabulary)
    if found is None:
        silent = C.LLAMA_TOKEN_ATTR_UNKNOWN | C.LLAMA_TOKEN_ATTR_CONTROL
        says = (
            not C.llama_vocab_get_attr(pointer, token) & silent or vocabulary.ends_turn(token)
            for token in range(vocabulary.size)
        )
        found = _SPEAKING[vocabulary] = np.fromiter(says, np.bool_, vocabulary.size)
    return found


def _stand_ins(vocabulary: Vocabulary, tokens: Iterable[int]) -> dict[int, int]:
    """For each named token another one, whose text is a single control character."""
    found: dict[int, int] = {}
    free = iter(_CHARACTERS)
    for token in sorted(tokens):
        if not 0 <= token < vocabulary.size:
            raise BadGrammar(f"the grammar names token {token}, which does not exist")
        for character in free:
            ids = vocabulary.tokenise(character, markup=False)
            if len(ids) == 1 and vocabulary.piece(ids[0]) == character.encode():
                found[token] = ids[0]
                break
        else:
            raise BadGrammar(
                f"the grammar names more tokens than the {len(_CHARACTERS)} that can be told apart"
            )
    return found


def _character(vocabulary: Vocabulary, token: int) -> str:
    return vocabulary.piece(token).decode()

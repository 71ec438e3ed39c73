"""A text that is said whatever the model would say, at the cost of choosing it."""

from __future__ import annotations

import random
from collections.abc import Sequence as Tokens

from gemma_local.engine.messages import Sampling
from gemma_local.engine.runtime.context import Floats
from gemma_local.engine.runtime.vocabulary import Vocabulary
from gemma_local.engine.sampler import Sampler


class Dictated(Sampler):
    """Chooses greedily, and says the text instead; ``own`` are its choices."""

    def __init__(self, text: Tokens[int]) -> None:
        super().__init__(Sampling(temperature=0.0, seed=0))
        self.own: list[int] = []
        self._text = text

    def choose(self, row: Floats, index: int) -> int:
        self.own.append(super().choose(row, index))
        return self._text[index]


def random_text(vocabulary: Vocabulary, length: int, seed: int) -> list[int]:
    """Words in no order, so that nothing is found in what was said before."""
    rng = random.Random(seed)
    words: list[int] = []
    while len(words) < length:
        token = rng.randrange(vocabulary.size)
        piece = vocabulary.piece(token)
        if len(piece) > 1 and piece[:1] == b" " and piece[1:].isalpha():
            words.append(token)
    return words

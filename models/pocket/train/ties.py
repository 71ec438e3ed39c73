"""What a token means hardly depends on the space in front of it, and neither should its embedding.

``src`` stands behind a space where somebody asks for it and behind a quote where a tool is called
with it. A model that learned the one and the other token apart can copy only names whose pieces it
saw in both places. So the embeddings of the two are drawn together, up to a difference that all
such pairs have in common; what a pair needs for itself the gradient can still give it.
"""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor

from gemma_local.models.pocket.train.architecture import Target
from gemma_local.models.pocket.train.tokenizer import SPACE, Tokenizer

_STRENGTH: Final = 0.03
"""The share of a pair's own difference that a step takes away."""


class Ties:
    """The pairs of a vocabulary: a piece with a space in front and the same without."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        ids = tokenizer.ids
        pairs = [
            (index, ids[token[1:]])
            for token, index in ids.items()
            if token.startswith(SPACE) and token[1:] in ids and token[1:] != SPACE
        ]
        self.spaced = torch.tensor([pair[0] for pair in pairs])
        self.bare = torch.tensor([pair[1] for pair in pairs])

    @torch.no_grad()
    def pull(self, target: Target) -> None:
        """Draw the embeddings of each pair together a little."""
        tables: list[Tensor] = [target.token_embd.weight]
        if target.shape.per_layer:
            tables.append(target.per_layer_token_embd.weight)
        for table in tables:
            apart = table[self.spaced] - table[self.bare]
            own = (apart - apart.mean(0)) * (_STRENGTH / 2)
            table[self.spaced] -= own
            table[self.bare] += own

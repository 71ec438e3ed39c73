"""Passes of a pair through llama.cpp, one at a time, for a comparison with other passes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gemma_local.engine.runtime.context import Context, ContextOptions
from gemma_local.engine.runtime.model import Model

Floats = NDArray[np.float32]
_UBATCH = 512
"""A sliding window forgets nothing while all is read in one go."""


@dataclass
class Passes:
    """A target and perhaps its drafter, loaded by llama.cpp."""

    target: Context
    drafter: Context | None

    def read(self, tokens: Sequence[int]) -> tuple[Floats, Floats]:
        """Logits [T, vocabulary] and final activations [T, width] of a text from its start."""
        self.target.truncate(0, 0)
        count = len(tokens)
        self.target.decode([*tokens], [*range(count)], [0] * count, [1] * count)
        return self.target.logits.copy(), self.target.nextn.copy()

    def draft(
        self, tokens: Sequence[int], hidden: Floats, position: int, steps: int
    ) -> list[Floats]:
        """Logits of the drafts at a position of the text that was read last.

        The first step reads token ``position`` and the activations of the one before, the others
        the text's next tokens and what the step before returned. Nothing from ``position`` on may
        be in the cache, so it is cut there.
        """
        assert self.drafter is not None
        self.target.truncate(0, position)
        fed, found = hidden[position - 1], []
        for step in range(steps):
            self.drafter.activations[0] = fed
            self.drafter.decode([tokens[position + step]], [position], [0], [1])
            found.append(self.drafter.logits[0].copy())
            fed = self.drafter.nextn[0].copy()
        return found


@contextmanager
def passes(target: Path, drafter: Path | None = None, *, is_fused: bool = True) -> Iterator[Passes]:
    """Load files for the length of a block, with one thread. ``is_fused``: with flash attention."""
    with ExitStack() as held:
        model = Model(target, gpu_layers=0)
        held.callback(model.close)
        options = ContextOptions(
            context=_UBATCH,
            sequences=1,
            ubatch=_UBATCH,
            rows=_UBATCH,
            threads=1,
            is_fused=is_fused,
        )
        context = Context(model, options)
        held.callback(context.close)
        context.enable_nextn(masked=False)
        head = None
        if drafter is not None:
            head_model = Model(drafter, gpu_layers=0)
            held.callback(head_model.close)
            few = replace(options, ubatch=8, rows=8)
            head = Context(head_model, few, context)
            held.callback(head.close)
            head.enable_nextn(masked=True)
        yield Passes(context, head)


def difference(found: Floats, expected: Floats) -> float:
    """The largest difference of rows of logits, relative to each row's largest logit."""
    gap = np.abs(found - expected).max(axis=-1)
    return float((gap / np.abs(expected).max(axis=-1)).max())

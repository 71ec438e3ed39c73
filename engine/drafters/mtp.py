"""Gemma 4's own drafter: four small layers that read the target's activations and KV cache."""

from __future__ import annotations

from typing import Final

import numpy as np

from gemma_local.engine.drafters import Guide
from gemma_local.engine.runtime.context import Context, Floats
from gemma_local.engine.sequence import Sequence

_GROUP: Final = 128


class MtpDrafter:
    """Drafts for all sequences together, one row each per drafted position.

    The drafter's input is the last token and the target's activations behind it; it answers with
    logits and with activations of its own, which are the input for the next drafted token. Its
    queries stay at the position of the first drafted token throughout, because it has no keys of
    its own to put behind the target's (``src/models/gemma4-assistant.cpp`` and
    ``common/speculative.cpp`` of llama.cpp; Google's MTP overview for Gemma 4).
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._ends_turn = context.model.vocabulary.ends_turn

    @property
    def llama_seconds(self) -> float:
        """Time spent inside llama.cpp so far."""
        return self._context.llama_seconds

    def propose(
        self, sequences: list[Sequence], lengths: list[int], guide: Guide | None = None
    ) -> list[list[int]]:
        """The drafter's most likely continuation for each sequence; ends early at a turn's end.

        What the guide has begun is read like tokens of its own. Raises Aborted, DecodeFailed;
        nothing needs undoing then, the drafter keeps no state.
        """
        context = self._context
        begun = [guide.begun(i) if guide is not None else [] for i in range(len(sequences))]
        asker = guide if guide is not None and guide.wants_confidence else None
        drafts: list[list[int]] = [[] for _ in sequences]
        active = [i for i, length in enumerate(lengths) if length > 0]
        # In the order of their slots: any other one llama.cpp takes apart into several passes.
        active.sort(key=lambda i: sequences[i].slot)
        for row, i in enumerate(active):
            context.activations[row] = sequences[i].activations
        place = 0
        while active:
            context.decode(
                [self._input(sequences[i], begun[i], drafts[i], place) for i in active],
                [sequences[i].pos for i in active],
                [sequences[i].slot for i in active],
                [1] * len(active),
            )
            logits, nextn = context.logits, context.nextn
            still_active: list[int] = []
            for row, i in enumerate(active):
                if place >= len(begun[i]):
                    token = int(logits[row].argmax())
                    drafts[i].append(token)
                    goes_on = asker is None or asker.goes_on(i, confidence(logits[row]))
                    if not goes_on or len(drafts[i]) >= lengths[i] or self._ends_turn(token):
                        continue
                context.activations[len(still_active)] = nextn[row]
                still_active.append(i)
            active = still_active
            place += 1
        return drafts

    @staticmethod
    def _input(sequence: Sequence, begun: list[int], draft: list[int], place: int) -> int:
        """The token behind which the one at ``place`` of a draft comes."""
        if place == 0:
            return sequence.last
        return begun[place - 1] if place <= len(begun) else draft[place - 1 - len(begun)]


def confidence(logits: Floats) -> float:
    """About the probability of the likeliest token of a row, shape (n_vocab,).

    The softmax over the largest logit of each of some thousand groups of tokens: the likely ones
    are hardly ever in the same group, and the others hardly count. 0.06 ms for 262,144 logits, a
    thirteenth of what all of them take. What is left of the difference is no matter, because what
    the number means is found out (`engine.pace.calibration`).
    """
    columns = logits.size // _GROUP
    if not columns:
        best = logits.max()
        return float(1.0 / np.exp(logits - best).sum())
    # Groups are columns, because numpy reduces those four times faster.
    maxima = logits[: columns * _GROUP].reshape(_GROUP, columns).max(axis=0)
    best = max(maxima.max(), logits[columns * _GROUP :].max(initial=-np.inf))
    return float(1.0 / max(np.exp(maxima - best).sum(), 1.0))

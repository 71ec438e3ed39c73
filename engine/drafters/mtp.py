"""Gemma 4's own drafter: four small layers that read the target's activations and KV cache."""

from __future__ import annotations

from gemma_local.engine.runtime.context import Context
from gemma_local.engine.sequence import Sequence


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

    def propose(self, sequences: list[Sequence], lengths: list[int]) -> list[list[int]]:
        """The drafter's most likely continuation for each sequence; ends early at a turn's end.

        Raises Aborted, DecodeFailed; nothing needs undoing then, the drafter keeps no state.
        """
        context = self._context
        drafts: list[list[int]] = [[] for _ in sequences]
        active = [i for i, length in enumerate(lengths) if length > 0]
        for row, i in enumerate(active):
            context.activations[row] = sequences[i].activations
        while active:
            context.decode(
                [drafts[i][-1] if drafts[i] else sequences[i].last for i in active],
                [sequences[i].pos for i in active],
                [sequences[i].slot for i in active],
                [1] * len(active),
            )
            logits, nextn = context.logits, context.nextn
            still_active: list[int] = []
            for row, i in enumerate(active):
                token = int(logits[row].argmax())
                drafts[i].append(token)
                if len(drafts[i]) < lengths[i] and not self._ends_turn(token):
                    context.activations[len(still_active)] = nextn[row]
                    still_active.append(i)
            active = still_active
        return drafts

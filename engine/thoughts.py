"""How long a model may think before it has to answer.

Gemma 4 may think until nothing is left for the answer: a request that only limits its tokens then
ends inside a thought, with nothing to show for it. So a thought that has used up its budget, or
all but what the answer is to have, is closed for the model, and the answer still comes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gemma_local.engine.channel import Channel
from gemma_local.engine.messages import Generate

ANSWER_SHARE: Final = 4
"""A fourth of the tokens that a request may emit is kept for the answer,"""
ANSWER_TOKENS: Final = 1024
"""or so many, if that is less."""


class ThoughtBudget:
    """Decides for one request when its thought is over."""

    def __init__(
        self, request: Generate, channel: Channel, markers: Mapping[str, int], room: int
    ) -> None:
        """``channel`` follows the request's output, ``room`` is how many tokens it may emit at
        most before the context is full."""
        self._channel = channel
        self._open = markers.get("<|channel>")
        self._close = markers.get("<channel|>")
        self._tokens = request.thought_tokens
        most = min(request.max_tokens or room, room)
        self._last = most - min(most // ANSWER_SHARE, ANSWER_TOKENS)

    def forced(self, emitted: int) -> int | None:
        """The token that must come next, None if the model may choose.

        ``emitted`` is the number of tokens that came before it.
        """
        is_due = self._channel.place == "thought" and self._is_spent(emitted)
        return self._close if is_due else None

    def forbidden(self, emitted: int) -> int | None:
        """A token that must not come next: once the budget is spent no thought is begun."""
        is_over = self._channel.place == "answer" and self._is_spent(emitted)
        return self._open if is_over else None

    def _is_spent(self, emitted: int) -> bool:
        if self._tokens is not None and self._channel.thought_tokens >= self._tokens:
            return True
        return emitted >= self._last

"""Compacts conversations: decides with ``compaction`` what goes, and carries it out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gemma_local.app.compaction import (
    SUMMARY_REQUEST,
    Compacted,
    StandIn,
    old_outputs,
    old_steps,
    oldest_turns,
    summary_tokens,
    to_sum_up,
    turn_start,
)
from gemma_local.app.context_count import ContextCounter
from gemma_local.app.context_window import ContextUse, Window
from gemma_local.app.conversation import Conversation
from gemma_local.models.chat_format import Rendering
from gemma_local.models.message import Message
from gemma_local.models.prompt import Text

Summarise = Callable[[Rendering, int], Message | None]
"""Answers a prompt with at most so many tokens; None if nothing came of it."""

_STUB_TOKENS: Final = 32


class Compactor:
    """Makes room in conversations, and knows when there is none left to make."""

    def __init__(self, summarise: Summarise, counter: ContextCounter, window: Window) -> None:
        self._summarise = summarise
        self._counter = counter
        self._window = window
        self._spent: int | None = None

    def may_help(self, use: ContextUse) -> bool:
        """Whether it is worth another try: after one that freed hardly anything, only when as much
        as would be worthwhile has come since."""
        return self._spent is None or use.prompt >= self._spent + self._window.worthwhile

    def compact(
        self, conversation: Conversation, *, as_much_as_possible: bool = False
    ) -> Compacted:
        """Make room: old output of tools first, then a summary, and if the model gives none the
        oldest turns go. The current turn stays word for word.

        Raises EngineFailed, and what the summary's maker raises; nothing has changed then, or
        stand-ins alone.
        """
        before = self._counter.use(conversation).prompt
        tokens = self._counter.entries(conversation)
        live = conversation.live
        stubs = old_outputs(live, tokens, self._window)
        if conversation.is_in_chain:
            # What the model is doing goes on with what is newest of it.
            stubs += old_steps(live, tokens, self._window)
        saved = sum(tokens[stub.number] - _STUB_TOKENS for stub in stubs)
        excess = before - saved - (self._window.compact_at - self._window.worthwhile)
        summed = summary = None
        dropped = 0
        if as_much_as_possible or excess > 0:
            summed = to_sum_up(live, tokens, self._window, keep_recent=not as_much_as_possible)
            weight = sum(tokens.get(entry.number, 0) for entry in summed)
            least = 0 if as_much_as_possible else summary_tokens(self._window)
            if weight > least + self._window.worthwhile:
                summary = self._sum_up(conversation, stubs, shorter_than=weight)
            if summary is not None:
                conversation.sum_up(summary, [entry.number for entry in summed])
            elif excess > 0:
                lighter = tokens | {stub.number: _STUB_TOKENS for stub in stubs}
                oldest = oldest_turns(live, lighter, excess)
                conversation.drop(entry.number for entry in oldest)
                dropped = len(oldest)
        still = {entry.number for entry in conversation.live}
        stubs = [stub for stub in stubs if stub.number in still]
        conversation.stand_in(stubs)
        after = self._counter.use(conversation).prompt
        self._spent = after if before - after < self._window.worthwhile else None
        return Compacted(
            before,
            after,
            stubs=len(stubs),
            summarised=len(summed or ()) if summary is not None else 0,
            dropped=dropped,
            summary=summary.text if summary is not None else "",
        )

    def _sum_up(
        self, conversation: Conversation, stubs: list[StandIn], *, shorter_than: int
    ) -> Message | None:
        """A summary of everything but a question that waits for its answer; None if none came that
        is shorter than what it would replace.

        It is asked for behind the conversation as it is in the cache; only if that leaves no room
        for the summary, old output goes first.
        """
        rendering = self._asking(conversation)
        if not self._fits(rendering):
            conversation.stand_in(stubs)
            rendering = self._asking(conversation)
            if not self._fits(rendering):
                return None
        summary = self._summarise(rendering, summary_tokens(self._window))
        if summary is None:
            return None
        asked = (Text(SUMMARY_REQUEST), Text(summary.text))
        return summary if self._counter.prompt(asked) < shorter_than else None

    def _asking(self, conversation: Conversation) -> Rendering:
        live = conversation.live
        if conversation.awaits_answer:
            live = live[: turn_start(live)]
        return conversation.rendering(Message("user", SUMMARY_REQUEST), live=live)

    def _fits(self, rendering: Rendering) -> bool:
        tokens = self._counter.prompt(rendering.prompt)
        return tokens + summary_tokens(self._window) <= self._window.size

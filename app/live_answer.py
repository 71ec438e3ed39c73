"""An answer while it comes: split into its parts, shown, and written down."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from gemma_local.app.record import Stream
from gemma_local.engine.messages import Delta, Done, Event
from gemma_local.models.message import Message
from gemma_local.models.reply import AnswerText, CallEnd, CallText, Part
from gemma_local.models.split_reply import SplitReply


class Listener(Protocol):
    """Hears what happens while an answer is made."""

    def event(self, event: Event) -> None:
        """An event of the engine that is no Delta: Loading, Prefill or Stats."""

    def parts(self, parts: Sequence[Part], drafted: Sequence[bool], delta: Delta | None) -> None:
        """Pieces of thought, answer and calls that came with ``delta``, None at the very end;
        ``drafted[i]``: the drafter proposed the token that brought ``parts[i]``."""

    def died(self, why: str) -> None:
        """The engine's process ended and is started again; the answer goes on where it was."""

    def notice(self, sentence: str) -> None:
        """Something that the person should know."""


class LiveAnswer:
    """Splits an answer while it comes, shows it and writes it down."""

    def __init__(
        self, reply: SplitReply, stream: Stream, listener: Listener, *, has_tools: bool
    ) -> None:
        """Without tools a call is text like any other: there is nobody to carry it out."""
        self.reply = reply
        self.stream = stream
        self._listener = listener
        self._has_tools = has_tools
        self._text = ""
        self._rest = ""

    def event(self, event: Event) -> None:
        """Show and keep what came."""
        if isinstance(event, Delta):
            self._rest += event.rest
            parts: list[Part] = []
            drafted: list[bool] = []
            for index, new in enumerate(_feed(self.reply, event)):
                parts += new
                drafted += [event.drafted[index]] * len(new)
            self._show(parts, drafted, event)
            self.stream.write(self.message())
        else:
            self._listener.event(event)

    def finish(self, done: Done | None) -> Message | None:
        """The whole message, None if nothing was said; ``done`` None if it was broken off."""
        is_cut = done is None or done.reason != "stop"
        last = self.reply.finish(self._rest, truncated=is_cut)
        self._show(last, [False] * len(last), None)
        message = self.message()
        if not (message.text.strip() or message.calls or message.thought):
            return None
        # A call that was cut off or had to be repaired is no example for the model to follow.
        is_unfit = any(call.truncated or call.repairs for call in self.reply.calls)
        return replace(message, spoken=None) if is_unfit else message

    def message(self) -> Message:
        """What was said so far."""
        reply = self.reply
        # A call that names no tool was shown as text.
        named = [call.call() for call in reply.calls if call.name]
        calls = tuple(named) if self._has_tools else ()
        return Message("assistant", self._text, reply.thought, calls, spoken=reply.spoken)

    def _show(self, parts: Sequence[Part], drafted: Sequence[bool], delta: Delta | None) -> None:
        if not self._has_tools:
            kept = [not isinstance(part, CallEnd) for part in parts]
            drafted = list(itertools.compress(drafted, kept))
            parts = [
                AnswerText(part.text) if isinstance(part, CallText) else part
                for part in itertools.compress(parts, kept)
            ]
        self._text += "".join(part.text for part in parts if isinstance(part, AnswerText))
        self._listener.parts(parts, drafted, delta)


def feed(reply: SplitReply, delta: Delta) -> list[Part]:
    """Give a reply what came, token by token."""
    return list(itertools.chain.from_iterable(_feed(reply, delta)))


def _feed(reply: SplitReply, delta: Delta) -> Iterator[Sequence[Part]]:
    for token, piece in zip(delta.tokens, delta.pieces, strict=True):
        yield reply.feed(token, piece)

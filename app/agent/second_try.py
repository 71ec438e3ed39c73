"""A call that could not be read, written anew: only the call, and held to a grammar.

All that stands before the call is in the cache already, so this costs the call's own tokens. What
comes of it is the model's own choice of words, in a form that needs no repair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gemma_local.app.answer import Answer
from gemma_local.app.stop import Stop
from gemma_local.engine.client import Engine, EngineFailed, new_id
from gemma_local.engine.messages import Delta, Event, Generate
from gemma_local.models.call_grammar import call_grammar
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.message import Message, Tool
from gemma_local.models.prompt import Ids
from gemma_local.models.reply import Reply
from gemma_local.models.split_reply import SplitReply

_CALL: Final = "<|tool_call>"
_MOST_TOKENS: Final = 512
"""A longer call is not written twice: that would take as long as asking for it with less text."""
_TEMPERATURE: Final = 0.3
_SEVERAL: Final = "several calls between one pair of markers"


@dataclass(frozen=True, slots=True)
class SecondTry:
    """``request`` asks for the call alone; ``kept`` are the tokens before it, with what became
    printable with each."""

    request: Generate
    kept: tuple[tuple[int, str], ...]

    def run(
        self, engine: Engine, on_death: Callable[[str], None], stop: Stop, reply: Reply
    ) -> Message | None:
        """The whole answer with the call that comes now, None if that is of no more use than the
        first. ``reply`` is a fresh splitter for the answer, and is filled."""
        running = Answer(engine, self.request, _unheard, on_death, stop)
        try:
            running.run()
        except EngineFailed:
            # What there is of the answer is kept all the same.
            return None
        for token, piece in (*self.kept, *_said(running.deltas)):
            reply.feed(token, piece)
        reply.finish("".join(delta.rest for delta in running.deltas[-1:]))
        if not reply.calls or reply.calls[-1].verdict == "rejected":
            return None
        calls = tuple(call.call() for call in reply.calls if call.name)
        message = Message("assistant", reply.answer, reply.thought, calls, spoken=reply.spoken)
        # As for every answer: a repaired call is no example to follow.
        is_unfit = any(call.repairs for call in reply.calls)
        return replace(message, spoken=None) if is_unfit else message


def second_try(
    request: Generate,
    deltas: Sequence[Delta],
    reply: SplitReply,
    tools: Sequence[Tool],
    markers: Mapping[str, int],
) -> SecondTry | None:
    """What to ask for if the last call of a reply could not be read and another try is cheap; None
    if not. ``deltas`` are all that came of ``request``.

    A tool that does not exist is no matter of grammar: the model is told which there are.
    """
    last = reply.calls[-1] if tools and reply.calls else None
    if not isinstance(reply, Reply) or last is None:
        return None
    if last.verdict != "rejected" or last.truncated or _SEVERAL in last.repairs:
        return None
    names = {tool.name for tool in tools}
    if last.name and last.name not in names:
        return None
    said = list(_said(deltas))
    at = max((i for i, (token, _) in enumerate(said) if token == markers.get(_CALL)), default=-1)
    if at < 0 or len(said) - at > _MOST_TOKENS:
        return None
    try:
        grammar = call_grammar(tools, markers, last.name or None)
    except GemmaLocalError:
        return None
    tokens = tuple(token for token, _ in said[:at])
    again = replace(
        request,
        id=new_id(),
        prompt=(*request.prompt, Ids(tokens)) if tokens else request.prompt,
        produced=(),
        max_tokens=_MOST_TOKENS,
        stop=(),
        thought_tokens=None,
        opens_thought=False,
        grammar=grammar,
        sampling=replace(
            request.sampling, temperature=min(request.sampling.temperature, _TEMPERATURE)
        ),
    )
    return SecondTry(again, tuple(said[:at]))


def _said(deltas: Sequence[Delta]) -> Iterator[tuple[int, str]]:
    for delta in deltas:
        yield from zip(delta.tokens, delta.pieces, strict=True)


def _unheard(event: Event) -> None:
    """What is shown of an answer was shown the first time."""

"""Gemma 4's own chat format: messages and tools to prompt pieces.

Layout (Google's prompt-formatting and function-calling pages for Gemma 4 and the published chat
templates, semantics of July 2026)::

    <bos><|turn>system\\n<|think|>\\n{system}<|tool>{declaration}<tool|><turn|>\\n
    <|turn>user\\n{text}<turn|>\\n
    <|turn>model\\n<|channel>thought\\n{thought}\\n<channel|>{text}
        <|tool_call>call:{name}{arguments}<tool_call|>
        <|tool_response>response:{name}{result}<tool_response|>{text}<turn|>\\n

Calls, their results and what the model says to them are one turn of the model. The large sizes
(12B, 26B-A4B, 31B) are told not to think by an empty thought at the start of that turn; E2B and
E4B are not given one, because priming it there makes reasoning leak untagged.

The templates embedded in published files differ between revisions, so we write the format
ourselves, and so that prompts only grow: what was read and said in this turn is what the next
prompt begins with, token for token. One thing alone is taken away again: when the user writes, the
thoughts since the user's last message go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Final, Literal

from gemma_local.models.chat_values import merged, object_pieces, quoted
from gemma_local.models.message import Message, Opening, Spoken, Tool, ToolCall
from gemma_local.models.prompt import Control, Ids, Piece, Prompt, Text
from gemma_local.models.tool_declaration import declaration_pieces

MARKERS: Final = (
    *("<pad>", "<eos>", "<bos>", "<unk>", "<mask>"),
    *("<|tool>", "<tool|>", "<|tool_call>", "<tool_call|>", "<|tool_response>", "<tool_response|>"),
    *('<|"|>', "<|think|>", "<|channel>", "<channel|>", "<|turn>", "<turn|>"),
    *("<|image>", "<|image|>", "<image|>", "<|audio>", "<|audio|>", "<audio|>", "<|video|>"),
)
"""Every control token of Gemma 4, as text. Text from outside must never become one of them."""

_MODEL_TURN: Final[Prompt] = (Control("<|turn>"), Text("model\n"))
_TURN_END: Final[Prompt] = (Control("<turn|>"), Text("\n"))
_OPENINGS: Final[dict[Opening, Prompt]] = {
    "": (),
    "thought": (Control("<|channel>"), Text("thought\n")),
    "empty_thought": (Control("<|channel>"), Text("thought\n"), Control("<channel|>")),
}


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a prompt. Pieces never span two, so that token counts add up.

    ``message`` is the index of the message that it writes down, None for what no message says.
    """

    kind: Literal["system", "tools", "message", "opening"]
    prompt: Prompt
    message: int | None = None


@dataclass(frozen=True, slots=True)
class Rendering:
    """A prompt in sections, and what it wrote at the start of the model's answer."""

    sections: tuple[Section, ...]
    opening: Opening = ""

    @property
    def prompt(self) -> Prompt:
        """All pieces."""
        return tuple(piece for section in self.sections for piece in section.prompt)


def render(
    messages: Sequence[Message],
    *,
    tools: Sequence[Tool] = (),
    thinking: bool = False,
    primes_empty_thought: bool = False,
) -> Rendering:
    """The prompt for the model's next answer.

    ``primes_empty_thought``: without thinking, a turn of the model begins with an empty thought
    (the large sizes). Thoughts are kept in messages after the user's last one.

    Raises:
        ValueError: there is nothing to answer: the last message must be the user's or a tool's.
    """
    last = messages[-1].role if messages else None
    if last not in ("user", "tool"):
        raise ValueError("the last message must be the user's or a tool's")
    loop = 1 + max((i for i, m in enumerate(messages) if m.role == "user"), default=-1)
    sections = [*_head(messages, tools, thinking)]
    sections += _turns(messages, thoughts_from=loop, then="assistant")
    if last == "user":
        opening: Opening = "empty_thought" if primes_empty_thought and not thinking else ""
        start = _MODEL_TURN
    else:
        # The model's turn goes on; an empty thought in the middle of it makes it call for ever.
        opening = "thought" if thinking else ""
        start = ()
    if pieces := merged((*start, *_OPENINGS[opening])):
        sections.append(Section("opening", pieces))
    return Rendering(tuple(sections), opening)


def render_history(
    messages: Sequence[Message], *, tools: Sequence[Tool] = (), thinking: bool = False
) -> Rendering:
    """What every later prompt begins with once the user writes again.

    All thoughts are dropped and the last turn is closed. ``messages`` may be empty.
    """
    turns = _turns(messages, thoughts_from=len(messages), then="user")
    return Rendering((*_head(messages, tools, thinking), *turns))


def _head(messages: Sequence[Message], tools: Sequence[Tool], thinking: bool) -> Iterator[Section]:
    """BOS and, if there is anything to say in it, the system's turn."""
    is_system = bool(messages) and messages[0].role == "system"
    text = messages[0].text.strip() if is_system else ""
    index = 0 if is_system else None
    if not (text or tools or thinking):
        yield Section("system", (Control("<bos>"),), index)
        return
    think: Prompt = (Control("<|think|>"), Text("\n")) if thinking else ()
    end = () if tools else _TURN_END
    said = (Text(text), *(_examples(messages[0].calls) if is_system and tools else ()))
    pieces = (Control("<bos>"), Control("<|turn>"), Text("system\n"), *think, *said, *end)
    yield Section("system", merged(pieces), index)
    if tools:
        declarations = chain.from_iterable(declaration_pieces(tool) for tool in tools)
        yield Section("tools", merged((*declarations, *_TURN_END)))


def _examples(calls: Sequence[ToolCall]) -> Iterator[Piece]:
    """Calls of the system's message: as the model is to write them."""
    if calls:
        yield Text("\n\nCalls are written like this:")
    for call in calls:
        yield Text("\n")
        yield from _call(call)


def _turns(
    messages: Sequence[Message], *, thoughts_from: int, then: Literal["user", "assistant"]
) -> Iterator[Section]:
    """A section for each message but the system's at the beginning.

    ``thoughts_from``: index of the first message whose thoughts are kept. ``then``: who comes
    after the last message.
    """
    roles = [message.role for message in messages]
    before = None
    for index, (message, (role, after)) in enumerate(
        zip(messages, pairwise([*roles, then]), strict=True)
    ):
        if index == 0 and role == "system":
            continue
        if role in ("assistant", "tool"):
            pieces = [*_start(before, role), *_said(message, index >= thoughts_from)]
            if after not in ("assistant", "tool"):
                pieces += _TURN_END
        else:
            pieces = [Control("<|turn>"), Text(f"{role}\n{message.text.strip()}"), *_TURN_END]
        yield Section("message", merged(pieces), index)
        before = role


def _start(before: str | None, role: str) -> Prompt:
    """What stands before a message of the model's turn, depending on the message before it."""
    if before not in ("assistant", "tool"):
        return _MODEL_TURN
    return (Text("\n"),) if before == role == "assistant" else ()


def _said(message: Message, keeps_thoughts: bool) -> Iterator[Piece]:
    if message.role == "tool":
        yield from _result(message)
    elif message.spoken is not None:
        yield from _spoken(message.spoken, keeps_thoughts)
    else:
        if keeps_thoughts and message.thought:
            yield Control("<|channel>")
            yield Text(f"thought\n{message.thought}\n")
            yield Control("<channel|>")
        yield Text(message.text.strip())
        for call in message.calls:
            yield from _call(call)


def _call(call: ToolCall) -> Iterator[Piece]:
    yield Control("<|tool_call>")
    yield from (Text(f"call:{call.name}"), *object_pieces(call.arguments))
    yield Control("<tool_call|>")


def _spoken(spoken: Spoken, keeps_thoughts: bool) -> Iterator[Piece]:
    """The model's own tokens.

    With its thoughts, a message must be the very tokens that were read and said, also the empty
    thought that it was primed with. A call that it ended without ``<tool_call|>`` is left so: the
    marker that comes next is the one with which the model went on.
    """
    if keeps_thoughts:
        yield from _OPENINGS[spoken.opening]
        kept = spoken.tokens
    else:
        edges = [0, *chain.from_iterable(spoken.thoughts), len(spoken.tokens)]
        parts = zip(edges[::2], edges[1::2], strict=True)
        kept = tuple(token for start, end in parts for token in spoken.tokens[start:end])
    if kept:
        yield Ids(kept)


def _result(message: Message) -> Iterator[Piece]:
    yield Control("<|tool_response>")
    yield Text(f"response:{message.tool or 'unknown'}")
    if message.result is not None:
        yield from object_pieces(message.result)
    else:
        yield from (Text("{value:"), *quoted(message.text), Text("}"))
    yield Control("<tool_response|>")

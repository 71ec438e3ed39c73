"""A conversation to learn from, and what it is judged by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gemma_local.models.chat_format import render
from gemma_local.models.chat_values import object_pieces
from gemma_local.models.message import Message, Opening, Spoken, Tool
from gemma_local.models.pocket.train.tokenizer import Tokenizer
from gemma_local.models.prompt import Control, Piece, Text


@dataclass(frozen=True, slots=True)
class Sample:
    """A conversation that ends with an answer of the model.

    ``kind`` is its ground, ``judged_by`` what a judge needs to know besides the answer itself.
    """

    kind: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    thinking: bool = False
    judged_by: Mapping[str, Any] = field(default_factory=dict)

    @property
    def asked(self) -> tuple[Message, ...]:
        """All but the last answer, and without thoughts where there are none."""
        if self.thinking:
            return self.messages[:-1]
        return tuple(replace(message, thought="") for message in self.messages[:-1])

    @property
    def answer(self) -> Message:
        return self.messages[-1]


@dataclass(frozen=True, slots=True)
class Document:
    """Token ids, and which of them are the model's own. The first ``shared`` ids are the head:
    the system's turn with the tools, which other documents begin with as well."""

    ids: tuple[int, ...]
    spoken: tuple[bool, ...]
    shared: int
    kind: str = ""


def user(text: str) -> Message:
    """What a person says."""
    return Message("user", text)


def system(text: str) -> Message:
    """What stands before a conversation."""
    return Message("system", text)


def said(text: str, thought: str = "") -> Message:
    """What the model says, and thinks if it is let."""
    return Message("assistant", text, thought=thought)


def head(prompt: str) -> tuple[Message, ...]:
    """A system message, if there is a text for it."""
    return (system(prompt),) if prompt else ()


def answer_ids(
    message: Message, opening: Opening, tokenizer: Tokenizer, *, thinking: bool
) -> tuple[Spoken, int]:
    """An answer as the tokens that the model is to say, and the token that ends it."""
    pieces: list[Piece] = []
    thoughts: tuple[tuple[int, int], ...] = ()
    if thinking and message.thought:
        if opening != "thought":
            pieces += [Control("<|channel>"), Text(f"thought\n{message.thought}\n")]
        else:
            pieces.append(Text(f"{message.thought}\n"))
        pieces.append(Control("<channel|>"))
        thoughts = ((0, len(tokenizer.prompt_ids(tuple(pieces)))),)
    elif opening == "thought":
        pieces.append(Control("<channel|>"))
        thoughts = ((0, 1),)
    pieces.append(Text(message.text.strip()))
    for call in message.calls:
        pieces += [Control("<|tool_call>"), Text(f"call:{call.name}")]
        pieces += [*object_pieces(call.arguments), Control("<tool_call|>")]
    ids = tuple(tokenizer.prompt_ids(_joined(pieces)))
    end = tokenizer.ids["<|tool_response>" if message.calls else "<turn|>"]
    return Spoken(ids, thoughts, opening), end


def prompt_ids(sample: Sample, tokenizer: Tokenizer) -> list[int]:
    """What the model reads before the last answer."""
    *_, (read, _, _) = _answers(sample, tokenizer)
    return read


def documents(sample: Sample, tokenizer: Tokenizer) -> Iterator[Document]:
    """A sample as documents: one, or more where thoughts are dropped in between."""
    done: list[int] = []
    flags: list[bool] = []
    shared = 0
    for read, spoken, end in _answers(sample, tokenizer):
        if done and read[: len(done) - 1] != done[:-1]:
            yield Document(tuple(done), tuple(flags), shared, sample.kind)
            done, flags = [], []
        if not done:
            shared = _shared(sample, tokenizer)
        keep = min(len(done), len(read))
        done = [*read, *spoken, end]
        flags = [*flags[:keep], *([False] * (len(read) - keep)), *([True] * (len(spoken) + 1))]
    yield Document(tuple(done), tuple(flags), shared, sample.kind)


def _shared(sample: Sample, tokenizer: Tokenizer) -> int:
    first = next(n for n, message in enumerate(sample.messages) if message.role == "user")
    rendering = render(sample.messages[: first + 1], tools=sample.tools, thinking=sample.thinking)
    return sum(
        len(tokenizer.prompt_ids(section.prompt))
        for section in rendering.sections
        if section.kind in ("system", "tools")
    )


def _answers(
    sample: Sample, tokenizer: Tokenizer
) -> Iterator[tuple[list[int], tuple[int, ...], int]]:
    """Of each answer the prompt before it, its tokens and the token that ends it."""
    messages: list[Message] = []
    for message in sample.messages:
        if message.role != "assistant":
            messages.append(message)
            continue
        rendering = render(messages, tools=sample.tools, thinking=sample.thinking)
        spoken, end = answer_ids(message, rendering.opening, tokenizer, thinking=sample.thinking)
        yield tokenizer.prompt_ids(rendering.prompt), spoken.tokens, end
        messages.append(replace(message, spoken=spoken))


def _joined(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Neighbouring texts as one, since they are tokenised together."""
    joined: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, Text) and joined and isinstance(joined[-1], Text):
            joined[-1] = Text(joined[-1].text + piece.text)
        elif piece != Text(""):
            joined.append(piece)
    return tuple(joined)

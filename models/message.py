"""What a conversation consists of: messages, tools, and calls of tools.

These are the facts, in nobody's format: ``chat_format`` and ``guest_template`` write them down for
a model, ``app.sessions`` for the disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Role = Literal["system", "user", "assistant", "tool"]

Value: TypeAlias = "bool | int | float | str | list[Value] | dict[str, Value] | None"
"""What an argument or a tool's result can be: the types of JSON."""

Opening = Literal["", "thought", "empty_thought"]
"""What a prompt wrote at the start of the model's turn on its behalf: nothing, the beginning of a
thought that the model goes on with, or an empty thought (the large sizes, thinking off)."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that the model may call. ``parameters`` is a JSON schema of type object."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model's wish to have a tool run."""

    name: str
    arguments: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Spoken:
    """An assistant's message as the tokens that the model itself chose, in order.

    Written down as text and tokenised again it would often be other tokens, and everything behind
    it would have to be read anew. ``thoughts`` are the half-open ranges of ``tokens`` that are
    thoughts, markers included; the first begins at 0 without a marker if ``opening`` is "thought",
    and a range that ends with ``tokens`` may lack its end marker. The token that ended the turn is
    not part of it.
    """

    tokens: tuple[int, ...]
    thoughts: tuple[tuple[int, int], ...] = ()
    opening: Opening = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One message.

    ``thought`` and ``calls`` are an assistant's; those of a system message are examples of how
    calls are written, in Gemma 4's format. ``tool`` is the name of the tool whose result a message
    of role "tool" brings: ``result`` if it is not None, else ``text``. ``spoken`` is only of use
    with the vocabulary that it came from.
    """

    role: Role
    text: str = ""
    thought: str = ""
    calls: tuple[ToolCall, ...] = ()
    tool: str = ""
    result: Mapping[str, Value] | None = None
    spoken: Spoken | None = None

"""Messages as bytes of JSON, and back without loss.

UTF-8 with ``surrogatepass``: a file's name or a model's escape can bring a lone surrogate into a
text, and JSON's own escapes would join two of them into one character. Readers ignore what they do
not know, so a field may be added without a new version of the schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from gemma_local.models.message import Message, Opening, Role, Spoken, ToolCall


def pack(value: Mapping[str, Any]) -> bytes:
    """An object of JSON types as bytes."""
    text = json.dumps(dict(value), ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def unpack(packed: bytes) -> dict[str, Any]:
    """What ``pack`` was given. Raises ValueError for anything else."""
    value = json.loads(packed.decode("utf-8", "surrogatepass"))
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def plain_message(message: Message) -> dict[str, Any]:
    """A message in JSON types. Fields that say nothing are left out."""
    plain: dict[str, Any] = {"role": message.role}
    if message.text:
        plain["text"] = message.text
    if message.thought:
        plain["thought"] = message.thought
    if message.calls:
        plain["calls"] = [
            {"name": call.name, "arguments": dict(call.arguments)} for call in message.calls
        ]
    if message.tool:
        plain["tool"] = message.tool
    if message.result is not None:
        plain["result"] = dict(message.result)
    if (spoken := message.spoken) is not None:
        plain["spoken"] = {
            "tokens": list(spoken.tokens),
            "thoughts": [list(span) for span in spoken.thoughts],
            "opening": spoken.opening,
        }
    return plain


def message_of(plain: Mapping[str, Any]) -> Message:
    """The message that ``plain_message`` wrote. Raises ValueError for anything else."""
    try:
        return Message(
            role=_role(plain["role"]),
            text=_text(plain.get("text", "")),
            thought=_text(plain.get("thought", "")),
            calls=tuple(
                ToolCall(_text(call["name"]), dict(call["arguments"]))
                for call in plain.get("calls", ())
            ),
            tool=_text(plain.get("tool", "")),
            result=dict(plain["result"]) if plain.get("result") is not None else None,
            spoken=_spoken(plain["spoken"]) if plain.get("spoken") is not None else None,
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a message ({error!r})") from error


def _role(value: object) -> Role:
    if value not in ("system", "user", "assistant", "tool"):
        raise ValueError(f"{value!r} is no role")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _spoken(plain: Mapping[str, Any]) -> Spoken:
    opening = plain.get("opening", "")
    if opening not in ("", "thought", "empty_thought"):
        raise ValueError(f"{opening!r} is no opening")
    spans = [(int(start), int(end)) for start, end in plain.get("thoughts", ())]
    return Spoken(tuple(map(int, plain["tokens"])), tuple(spans), cast(Opening, opening))

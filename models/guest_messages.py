"""Messages and tools as other models' chat templates want them: the dictionaries of OpenAI's API.

Every text in them came from outside and is marked on the way (see ``untrusted_text``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from gemma_local.models.message import Message, Tool
from gemma_local.models.special_texts import SpecialTexts
from gemma_local.models.untrusted_text import marked, marked_value

ArgumentStyle = Literal["object", "string"]
"""How a template wants a call's arguments: as an object, or as the text of a JSON object."""


def guest_messages(
    messages: Sequence[Message], specials: SpecialTexts, arguments: ArgumentStyle
) -> list[dict[str, Any]]:
    """One dictionary a message. Calls get identifiers in their order, nine characters long, as
    some templates demand; a result has that of the first open call of its tool."""
    result: list[dict[str, Any]] = []
    open_calls: list[tuple[str, str]] = []
    calls = 0
    for message in messages:
        entry: dict[str, Any] = {
            "role": message.role,
            "content": marked(message.text, specials),
        }
        if message.thought:
            entry["reasoning_content"] = marked(message.thought, specials)
        if message.calls:
            names = [
                (f"call{calls + index:05d}", call.name) for index, call in enumerate(message.calls)
            ]
            calls += len(names)
            open_calls = list(names)
            entry["tool_calls"] = [
                {
                    "id": identifier,
                    "type": "function",
                    "function": {
                        "name": marked(name, specials),
                        "arguments": _arguments(call.arguments, specials, arguments),
                    },
                }
                for (identifier, name), call in zip(names, message.calls, strict=True)
            ]
        if message.role == "tool":
            identifier = _take(open_calls, message.tool)
            content = message.text if message.result is None else _json(message.result)
            entry |= {
                "name": marked(message.tool, specials),
                "tool_call_id": identifier,
                "content": marked(content, specials),
            }
        result.append(entry)
    return result


def guest_tools(tools: Sequence[Tool], specials: SpecialTexts) -> list[dict[str, Any]] | None:
    """Declarations, None if there are no tools."""
    return [
        {
            "type": "function",
            "function": {
                "name": marked(tool.name, specials),
                "description": marked(tool.description, specials),
                "parameters": marked_value(
                    dict(tool.parameters) or {"type": "object", "properties": {}}, specials
                ),
            },
        }
        for tool in tools
    ] or None


def without_tools(messages: Sequence[Message]) -> list[Message]:
    """The same conversation for a template that knows no tools: calls and results as text.

    A result becomes the user's, and the user's messages in a row become one: most templates want
    roles to alternate.
    """
    if not any(message.calls or message.role == "tool" for message in messages):
        return list(messages)
    result: list[Message] = []
    for message in messages:
        if message.role == "tool":
            content = message.text if message.result is None else _json(message.result)
            message = Message("user", f"Result of {message.tool}: {content}")
        elif message.calls:
            calls = (f"{call.name}({_json(call.arguments)})" for call in message.calls)
            text = "\n".join(part for part in (message.text, *calls) if part)
            message = replace(message, text=text, calls=(), spoken=None)
        if result and result[-1].role == message.role == "user":
            result[-1] = Message("user", f"{result[-1].text}\n\n{message.text}")
        else:
            result.append(message)
    return result


def one_call_each(messages: Sequence[Message]) -> list[Message]:
    """The same conversation for a template that takes one call at a time: a message for each call,
    with its result right after it."""
    result: list[Message] = []
    index = 0
    while index < len(messages):
        message = messages[index]
        index += 1
        if len(message.calls) < 2:
            result.append(message)
            continue
        answers: list[Message] = []
        while index < len(messages) and messages[index].role == "tool":
            answers.append(messages[index])
            index += 1
        for number, call in enumerate(message.calls):
            first = number == 0
            result.append(
                replace(
                    message,
                    text=message.text if first else "",
                    thought=message.thought if first else "",
                    calls=(call,),
                    spoken=None,
                )
            )
            own = next((answer for answer in answers if answer.tool == call.name), None)
            if own is not None:
                answers.remove(own)
                result.append(own)
        result += answers
    return result


def _arguments(values: Mapping[str, Any], specials: SpecialTexts, style: ArgumentStyle) -> Any:
    arguments = marked_value(dict(values), specials)
    return arguments if style == "object" else _json(arguments)


def _take(open_calls: list[tuple[str, str]], tool: str) -> str:
    index = next((i for i, (_, name) in enumerate(open_calls) if name == tool), 0)
    return open_calls.pop(index)[0] if open_calls else "call00000"


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)

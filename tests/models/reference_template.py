"""Google's own chat template, rendered as its makers do."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import jinja2.ext

from gemma_local.models.message import Message, Tool

TEMPLATE = Path(__file__).parent / "templates" / "google-gemma-4-31B-it.jinja"


def reference(
    messages: Sequence[Message], tools: Sequence[Tool] = (), *, thinking: bool = False
) -> str:
    """The text of a prompt for the next answer."""
    return _template(TEMPLATE).render(
        messages=dictionaries(messages),
        tools=[
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
            for tool in tools
        ],
        bos_token="<bos>",
        add_generation_prompt=True,
        enable_thinking=thinking,
    )


@cache
def _template(path: Path) -> jinja2.Template:
    environment = jinja2.Environment(
        trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols]
    )
    return environment.from_string(path.read_text(encoding="utf-8"))


def dictionaries(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Messages as the template takes them. It knows results that are objects only as a part of
    the message that called."""
    entries: list[dict[str, Any]] = []
    for index, message in enumerate(messages):
        entry: dict[str, Any] = {"role": message.role, "content": message.text}
        if message.thought:
            entry["reasoning"] = message.thought
        if message.calls:
            entry["tool_calls"] = [
                {"type": "function", "function": {"name": c.name, "arguments": dict(c.arguments)}}
                for c in message.calls
            ]
            results = _results(messages[index + 1 :])
            if any(result.result is not None for result in results):
                entry["tool_responses"] = [
                    {"name": r.tool, "response": r.text if r.result is None else r.result}
                    for r in results
                ]
        if message.role == "tool":
            entry["name"] = message.tool
            # An identifier that no call has, or all of them would be taken for the last one.
            entry["tool_call_id"] = "none"
        entries.append(entry)
    return entries


def _results(following: Sequence[Message]) -> list[Message]:
    end = next((i for i, m in enumerate(following) if m.role != "tool"), len(following))
    return list(following[:end])

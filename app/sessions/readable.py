"""What people read of entries, whatever it is shown in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gemma_local.app.sessions.entry import Entry
from gemma_local.app.sessions.export_json import json_text
from gemma_local.models.message import Message, ToolCall

NAMES: Final = {"system": "System", "user": "You", "assistant": "Assistant", "tool": "Tool"}
"""Who speaks, by role."""

_WIDTH: Final = 72


def speaker(entry: Entry) -> str:
    """Who says this."""
    return "Summary" if entry.kind == "summary" else NAMES[entry.message.role]


def ending(entry: Entry) -> str:
    """How an answer that is not complete ended, and what is missing; "" for others."""
    notes = []
    if entry.state == "stopped":
        notes.append("stopped")
    elif entry.state == "partial":
        notes.append("still being written")
    elif entry.finish in ("length", "context"):
        notes.append("cut off: no room left")
    if missing := entry.info.get("unanswered"):
        notes.append("a call has no result" if missing == 1 else f"{missing} calls have no result")
    return ", ".join(notes)


def arguments_text(call: ToolCall) -> str:
    """The arguments of a call, one a line or more."""
    return _lines(call.arguments)


def result_text(message: Message) -> str:
    """What a tool brought."""
    return message.text if message.result is None else _lines(message.result)


def _lines(values: Mapping[str, Any]) -> str:
    """Strings as they are, all else as JSON: an escaped text of many lines is hard to read."""
    lines = []
    for key, value in values.items():
        text = value if isinstance(value, str) else _json(value)
        lines.append(f"{key}:\n{text}" if "\n" in text else f"{key}: {text}")
    return "\n".join(lines)


def _json(value: Any) -> str:
    text = json_text(value, indent=None)
    return text if len(text) <= _WIDTH else json_text(value)

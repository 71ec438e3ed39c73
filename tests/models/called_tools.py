"""Tools for tests of calls, and the sentences that say how they are called."""

from __future__ import annotations

from typing import Any

from gemma_local.models.message import Tool

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}


def tool(name: str, required: str, optional: dict[str, Any] | None = None, **kinds: Any) -> Tool:
    properties = {key: kinds.get(key, TEXT) for key in required.split()} | (optional or {})
    schema = {"type": "object", "properties": properties, "required": required.split()}
    return Tool(name, f"{name} something", schema)


TODOS = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"text": TEXT, "done": {"type": "boolean"}},
        "required": ["text"],
    },
}
TOOLS = [
    tool("read", "path", {"offset": WHOLE, "limit": WHOLE, "raw": {"type": "boolean"}}),
    tool("edit", "path old new"),
    tool("write_file", "path content"),
    tool("terminal", "command", {"timeout": {"type": "number"}}),
    tool("search_files", "pattern", {"target": {"type": "string", "enum": ["files", "text"]}}),
    tool("query", "data_refs", {"opts": {"type": "object"}}, data_refs={"type": "array"}),
    tool("todo", "todos", todos=TODOS),
    tool("mcp.calendar:list_events", "limit", limit=WHOLE),
    tool("status", ""),
]
USE_READ = "Call read with path and optionally offset, limit, raw."
USE_TERMINAL = "Call terminal with command and optionally timeout."
USE_SEARCH = "Call search_files with pattern and optionally target."
USE_QUERY = "Call query with data_refs and optionally opts."
USE_WRITE = "Call write_file with path, content."
USE_EDIT = "Call edit with path, old, new."
NAMES = ", ".join(each.name for each in TOOLS)
OPEN, CLOSE, Q = "<|tool_call>", "<tool_call|>", '<|"|>'
EMPTY = "<|channel>thought\n<channel|>"
WINDOWS = r"C:\Users\new\temp\notes.txt"

"""The tools that the pocket target learns to call: those of the agent, as it declares them.

How many lines and matches are told depends on the size of the context.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from gemma_local.models.message import Tool


def _tool(name: str, description: str, **properties: tuple[str, str]) -> Tool:
    """``properties`` are types and descriptions; a "?" behind the type marks one that may be left
    out, "strings" is a list of texts."""
    schemas: dict[str, Mapping[str, Any]] = {}
    for key, (kind, about) in properties.items():
        plain = kind.removesuffix("?")
        schema: dict[str, Any] = {"type": plain}
        if plain == "strings":
            schema = {"type": "array", "items": {"type": "string"}}
        schemas[key] = {**schema, "description": about} if about else schema
    required = [key for key, (kind, _) in properties.items() if not kind.endswith("?")]
    return Tool(name, description, {"type": "object", "properties": schemas, "required": required})


def tools(read_lines: int = 150, hits: int = 20) -> tuple[Tool, ...]:
    """``read``, ``edit``, ``write``, ``search``, ``list``, ``run`` and ``todo``."""
    return (
        _tool(
            "read",
            "Read a text file, lines numbered as 12|text, or list a folder.",
            path=("string", ""),
            offset=("integer?", "first line, from 1"),
            limit=("integer?", f"lines, default {read_lines}"),
        ),
        _tool(
            "edit",
            "Replace a piece of a file that was read. One place a call.",
            path=("string", ""),
            old=("string", "exact lines of the file, enough to be unique, without numbers"),
            new=("string", "what replaces them, complete"),
            all=("boolean?", "replace every occurrence"),
        ),
        _tool(
            "write",
            "Make a new file, or rewrite one of up to 150 lines that was read. Folders are made.",
            path=("string", ""),
            content=("string", "all of the file"),
        ),
        _tool(
            "search",
            f"Find lines in files. At most {hits} are shown, as path:line: text.",
            pattern=("string", "regular expression; lower case finds any case"),
            path=("string?", "file or folder, default: the workspace"),
            glob=("string?", "such as *.py"),
        ),
        _tool(
            "list",
            "List a folder's files, 2 levels deep, without those that git ignores.",
            path=("string?", "default: the workspace"),
        ),
        _tool(
            "run",
            "Run a shell command. No input, no editor, no server that stays. cd is kept.",
            command=("string", ""),
            timeout=("integer?", "seconds, default 120, at most 600"),
        ),
        _tool(
            "todo",
            "Keep a plan of three or more steps. Give the whole list each time.",
            items=("strings", "[ ] open, [~] doing, [x] done"),
        ),
    )


TOOLS: Final = tools()


def _short(tool: Tool, description: str) -> Tool:
    """A tool whose arguments are names alone."""
    properties = {
        name: {key: value for key, value in schema.items() if key != "description"}
        for name, schema in tool.parameters["properties"].items()
    }
    parameters = {**tool.parameters, "properties": properties}
    return replace(tool, description=description, parameters=parameters)


TERSE_TOOLS: Final = tuple(
    _short(tool, tool.description.partition(". ")[0].rstrip(".") + ".") for tool in TOOLS
)
"""What the program declares to the pocket target."""
TERSE_RULES: Final = "You are a coding assistant. You work in the user's project folder with tools."
"""What it tells the pocket target when there are tools."""

_BRIEF: Final = {
    "list": "List a folder.",
    "read": "Read a file.",
    "search": "Find a pattern in files.",
    "edit": "Replace a text in a file.",
    "write": "Write a file.",
    "run": "Run a command.",
    "todo": "Note the steps of a task.",
}
BRIEF_TOOLS: Final = tuple(_short(tool, _BRIEF[tool.name]) for tool in TOOLS)
"""The same in fewer words: other programs declare them otherwise."""

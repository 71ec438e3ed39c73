"""The arguments of a call, taken as what they have to be.

They were fitted to the tool's schema before; what arrives here otherwise came some other way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gemma_local.app.agent.tool import ToolProblem
from gemma_local.models.message import Tool as Declaration
from gemma_local.models.message import Value


def text_of(arguments: Mapping[str, Value], key: str, default: str | None = None) -> str:
    """A text. Raises ToolProblem, also if it is missing and there is no ``default``."""
    value = arguments.get(key)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        raise ToolProblem(f'missing "{key}"' if value is None else f'"{key}" must be a text')
    return value


def number_of(arguments: Mapping[str, Value], key: str, default: int) -> int:
    """A whole number. Raises ToolProblem."""
    value = arguments.get(key)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int):
        raise ToolProblem(f'"{key}" must be a whole number')
    return value


def flag_of(arguments: Mapping[str, Value], key: str) -> bool:
    """True or false; false if it is missing. Raises ToolProblem."""
    value = arguments.get(key)
    if value is not None and not isinstance(value, bool):
        raise ToolProblem(f'"{key}" must be true or false')
    return bool(value)


def declared(name: str, description: str, **properties: Any) -> Declaration:
    """A declaration whose ``properties`` are (type, description), required unless the type ends
    in "?"; "strings" is a list of texts."""
    schemas: dict[str, dict[str, Any]] = {}
    required = []
    for key, (kind, about) in properties.items():
        plain = kind.removesuffix("?")
        schema: dict[str, Any] = {"type": plain}
        if plain == "strings":
            schema = {"type": "array", "items": {"type": "string"}}
        if about:
            schema["description"] = about
        schemas[key] = schema
        if plain == kind:
            required.append(key)
    parameters = {"type": "object", "properties": schemas, "required": required}
    return Declaration(name, description, parameters)

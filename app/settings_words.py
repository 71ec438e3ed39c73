"""What a setting may be, in words: for complaints, for the file and for the reference."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from gemma_local.app.settings import Settings

TEXT: Final = "some text"
_EXAMPLES: Final = {
    "rules": 'a list such as ["run: pytest *", "edit: src/**"]',
    "stop": 'a list such as ["\\n\\n", "END"]',
    "keys": 'a key such as "ctrl+x", or a list of keys',
}


def model_of(table: str) -> type[BaseModel] | None:
    """The class of a table; None if it is none, or one with names of its own, as ``keys``."""
    field = Settings.model_fields.get(table)
    kind = field.annotation if field is not None else None
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def allowed(table: str, name: str) -> str:
    """What a setting may be, as in "must be ...": '"auto" or a whole number from 1 to 1024'."""
    model = model_of(table)
    if model is None or name not in model.model_fields:
        return _EXAMPLES.get(table, "something else")
    return _EXAMPLES.get(name) or _described(_properties(model)[name])


@functools.cache
def _properties(model: type[BaseModel]) -> dict[str, Any]:
    return dict(model.model_json_schema()["properties"])


def _described(schema: Mapping[str, Any]) -> str:
    """A JSON schema of one value in words."""
    if "anyOf" in schema:
        return _either([part for option in schema["anyOf"] for part in _parts(option)])
    return _either(_parts(schema))


def _parts(schema: Mapping[str, Any]) -> list[str]:
    if words := schema.get("enum") or ([schema["const"]] if "const" in schema else []):
        return [f'"{word}"' for word in words]
    match schema["type"]:
        case "boolean":
            return ["true", "false"]
        case "integer":
            return [f"a whole number{_bounds(schema)}"]
        case "number":
            return [f"a number{_bounds(schema)}"]
        case _:
            return [TEXT]


def _bounds(schema: Mapping[str, Any]) -> str:
    above, high = schema.get("exclusiveMinimum"), schema.get("maximum")
    if above is not None:
        return f" above {above:g} and up to {high:g}"
    return f" from {_number(schema['minimum'])} to {_number(high)}"


def _number(value: Any) -> str:
    return str(value) if isinstance(value, int) else f"{value:g}"


def _either(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]


def purpose(docstring: str) -> str:
    """A docstring of ``settings`` in one line, without its marks and the table's name."""
    text = " ".join(docstring.split()).replace("``", "")
    if text.startswith("["):
        text = text.partition("]: ")[2]
        return f"{text[0].upper()}{text[1:]}"
    return text

"""JSON schemas brought into the few forms that Gemma 4's tool declarations can say.

The declarations know ``type`` (one name), ``description``, ``enum``, ``items``, ``properties``,
``required`` and ``nullable``. Schemas that programs generate say the same in other words: as
references, as a choice between a type and null, as lists of types. The published templates print
those as an empty type.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

Schema = dict[str, Any]

_MOST_NODES: Final = 5000
"""Schemas in a schema, references followed; a hostile one can be made to unfold without end."""
_DEEPEST: Final = 32


def plain_schema(schema: Mapping[str, Any]) -> Schema:
    """The same schema without references, choices and lists of types, as far as that goes.

    ``$ref`` is followed inside the schema; ``anyOf``, ``oneOf`` and lists of types with null in
    them become ``nullable``; ``allOf`` is merged; ``const`` becomes an ``enum`` of one. A choice
    between several types is left as a list of their names. Recursion ends in a plain object.
    """
    return _Plainer(schema).plain(schema, ())


class _Plainer:
    """Holds the root, for references, and how much may still be unfolded."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = _MOST_NODES

    def plain(self, schema: object, followed: tuple[str, ...], depth: int = 0) -> Schema:
        self._left -= 1
        if not isinstance(schema, Mapping):
            return {}
        if self._left < 0 or depth > _DEEPEST:
            return {"type": "object"}
        result = dict(schema)
        reference = result.pop("$ref", None)
        if isinstance(reference, str):
            if reference in followed:
                return {"type": "object", **_described(result)}
            target = self.plain(self._find(reference), (*followed, reference), depth + 1)
            result = {**target, **result}
        for part in _schemas(result.pop("allOf", None)):
            result = _both(result, self.plain(part, followed, depth + 1))
        for name in ("anyOf", "oneOf"):
            if choices := _schemas(result.pop(name, None)):
                plain = [self.plain(choice, followed, depth + 1) for choice in choices]
                result = {**_one_of(plain), **result}
        self._inside(result, followed, depth)
        return _with_one_type(result)

    def _inside(self, schema: Schema, followed: tuple[str, ...], depth: int) -> None:
        """Do the same to all schemas in this one."""
        properties = schema.get("properties")
        if isinstance(properties, Mapping):
            schema["properties"] = {
                str(key): self.plain(value, followed, depth + 1)
                for key, value in properties.items()
            }
        if isinstance(schema.get("items"), Mapping):
            schema["items"] = self.plain(schema["items"], followed, depth + 1)

    def _find(self, reference: str) -> object:
        """What a reference of the form ``#/$defs/name`` (RFC 6901) points to, {} if nothing."""
        place: object = self._root
        for step in reference.removeprefix("#").split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            place = place.get(name, {}) if isinstance(place, Mapping) else {}
        return place if reference.startswith("#/") else {}


def _schemas(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []


def _described(schema: Mapping[str, Any]) -> Schema:
    return {key: schema[key] for key in ("description", "nullable") if key in schema}


def _both(first: Schema, second: Schema) -> Schema:
    """What satisfies two schemas: the properties and demands of both."""
    result = {**second, **first}
    for key in ("properties", "required"):
        one, other = first.get(key), second.get(key)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            result[key] = {**other, **one}
        elif isinstance(one, list) and isinstance(other, list):
            result[key] = [*one, *(name for name in other if name not in one)]
    return result


def _one_of(choices: list[Schema]) -> Schema:
    """What is said of a value that is one of these."""
    real = [choice for choice in choices if choice.get("type") != "null"]
    result: Schema = {}
    if len(real) < len(choices) or any(choice.get("nullable") for choice in real):
        result["nullable"] = True
    types = list(dict.fromkeys(name for choice in real for name in _types(choice) if name))
    if len(types) > 1:
        return {**result, "type": types}
    for choice in reversed(real):
        result = {**result, **choice}
    enums = [choice.get("enum") for choice in real]
    if len(real) > 1 and "enum" in result:
        if all(isinstance(enum, list) for enum in enums):
            result["enum"] = list(dict.fromkeys(str(v) for enum in enums for v in enum or ()))
        else:
            del result["enum"]
    return result


def _types(schema: Mapping[str, Any]) -> list[str]:
    kind = schema.get("type")
    return [str(name) for name in kind] if isinstance(kind, list | tuple) else [str(kind or "")]


def _with_one_type(schema: Schema) -> Schema:
    """One name for the type where there is one, and null as ``nullable``."""
    if "const" in schema:
        schema.setdefault("enum", [schema.pop("const")])
    kind, enum = schema.get("type"), schema.get("enum")
    if isinstance(kind, list | tuple):
        names = [name for name in _types(schema) if name != "null"]
        if len(names) < len(kind):
            schema["nullable"] = True
        schema["type"] = names[0] if len(names) == 1 else names
    if isinstance(enum, list | tuple) and None in enum:
        schema["enum"] = [value for value in enum if value is not None]
        schema["nullable"] = True
    if not schema.get("type"):
        schema.update(_guessed_type(schema))
    return schema


def _guessed_type(schema: Mapping[str, Any]) -> Schema:
    if isinstance(schema.get("properties"), Mapping):
        return {"type": "object"}
    if "items" in schema:
        return {"type": "array"}
    enum = schema.get("enum")
    if enum and isinstance(enum, list | tuple) and all(isinstance(value, str) for value in enum):
        return {"type": "string"}
    return {}

"""Declarations of tools, in Gemma 4's own notation.

Byte for byte what Google's chat template of July 2026 writes for schemas that it can say; see
``plain_schema`` for what is done to the others before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from gemma_local.models.chat_values import (
    joined,
    list_pieces,
    quoted,
    sorted_items,
    value_pieces,
)
from gemma_local.models.message import Tool
from gemma_local.models.plain_schema import plain_schema
from gemma_local.models.prompt import Control, Prompt, Text

_KEYWORDS: Final = frozenset({"description", "type", "properties", "required", "nullable"})


def declaration_pieces(tool: Tool) -> Prompt:
    """``<|tool>declaration:name{description:...,parameters:{...}}<tool|>``.

    Properties are sorted, types in capitals, ``description`` comes first.
    """
    return (
        Control("<|tool>"),
        Text(f"declaration:{tool.name}{{description:"),
        *quoted(tool.description),
        *_parameters(tool.parameters),
        Text("}"),
        Control("<tool|>"),
    )


def _parameters(parameters: Mapping[str, Any]) -> Prompt:
    if not parameters:
        return ()
    schema = plain_schema(parameters)
    fields: list[Prompt] = []
    if properties := _mapping(schema.get("properties")):
        fields.append((Text("properties:"), *_properties(properties)))
    if required := schema.get("required"):
        fields.append((Text("required:"), *_names(required)))
    fields.append((Text("type:"), *_type(schema.get("type") or "object")))
    return (Text(",parameters:{"), *joined(fields), Text("}"))


def _properties(properties: Mapping[str, Any], *, without_keywords: bool = False) -> Prompt:
    """``{name:{...},...}``. ``without_keywords``: these are a schema's own keys, and those of them
    that have a meaning there are no properties."""
    fields = (
        (Text(f"{name}:{{"), *_property(_mapping(schema)), Text("}"))
        for name, schema in sorted_items(properties)
        if not (without_keywords and name in _KEYWORDS)
    )
    return (Text("{"), *joined(fields), Text("}"))


def _property(schema: Mapping[str, Any]) -> Iterable[Any]:
    kind = str(schema.get("type") or "").upper()
    fields: list[Prompt] = []
    if schema.get("description"):
        fields.append((Text("description:"), *quoted(str(schema["description"]))))
    if kind == "STRING" and schema.get("enum"):
        fields.append((Text("enum:"), *value_pieces(schema["enum"], quotes_keys=True)))
    if kind == "ARRAY" and (items := _mapping(schema.get("items"))):
        fields.append((Text("items:{"), *_items(items), Text("}")))
    if schema.get("nullable"):
        fields.append((Text("nullable:true"),))
    if kind == "OBJECT":
        inner = schema.get("properties")
        if isinstance(inner, Mapping):
            fields.append((Text("properties:"), *_properties(inner)))
        else:
            fields.append((Text("properties:"), *_properties(schema, without_keywords=True)))
        if required := schema.get("required"):
            fields.append((Text("required:"), *_names(required)))
    fields.append((Text("type:"), *_type(schema.get("type"))))
    return joined(fields)


def _items(schema: Mapping[str, Any]) -> Iterable[Any]:
    """The schema of a list's items: all of its keys, sorted."""
    fields: list[Prompt] = []
    for key, value in sorted_items(schema):
        match key:
            case _ if value is None:
                continue
            case "properties":
                fields.append((Text("properties:"), *_properties(_mapping(value))))
            case "type":
                fields.append((Text("type:"), *_type(value)))
            case _:
                fields.append((Text(f"{key}:"), *value_pieces(value, quotes_keys=True)))
    return joined(fields)


def _type(kind: object) -> Prompt:
    if isinstance(kind, list | tuple):
        return list_pieces(quoted(str(name).upper()) for name in kind)
    return quoted(str(kind or "").upper())


def _names(names: object) -> Prompt:
    return list_pieces(quoted(str(n)) for n in (names if isinstance(names, list | tuple) else ()))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}

"""A grammar (GBNF) whose only sentences are calls of given tools with arguments that fit.

For the one call that a model cannot get right by itself: what it writes under this grammar needs no
repair. Markers are token terminals (``<[48]>``), never spelled, so a string can contain anything
but the quote token.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gemma_local.models.call_source import QUOTE
from gemma_local.models.chat_values import sorted_items
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.json_schema import (
    Schema,
    choices_of,
    properties_of,
    required_of,
    resolved,
    types_of,
)
from gemma_local.models.message import Tool

_CALL: Final = "<|tool_call>"
_END_CALL: Final = "<tool_call|>"

# Bounds on what is written, not on what is true: a model must not write digits without end.
_WHOLE: Final = '"-"? ("0" | [1-9] [0-9]{0,15})'
_SHARED: Final = {
    "integer": _WHOLE,
    "number": f'{_WHOLE} ("." [0-9]{{1,15}})? ([eE] [-+]? [0-9]{{1,2}})?',
    "boolean": '"true" | "false"',
    "null": '"null"',
    "key": "[A-Za-z_] [A-Za-z0-9_-]{0,63}",
    "value": "string | number | boolean | null | list | object",
    "list": '"[" (value ("," value)*)? "]"',
    "object": '"{" (key ":" value ("," key ":" value)*)? "}"',
}
_FREE: Final = {"string": "string", "array": "list", "object": "object"}


def call_grammar(tools: Sequence[Tool], markers: Mapping[str, int], name: str | None = None) -> str:
    """GBNF with the root rule ``root`` for exactly one call, markers included.

    Args:
        tools: what may be called.
        markers: the vocabulary's control tokens with their ids.
        name: the one of the tools that must be called.

    Raises:
        GemmaLocalError: the vocabulary has no tokens for calls.
        ValueError: there is no such tool.
    """
    missing = [text for text in (_CALL, _END_CALL, QUOTE) if text not in markers]
    if missing:
        raise GemmaLocalError(
            f"this model's vocabulary has no {missing[0]}; only Gemma 4 can be held to a call"
        )
    chosen = [tool for tool in tools if name in (None, tool.name)]
    if not chosen:
        raise ValueError(f"no tool {name!r} among {[tool.name for tool in tools]}")
    quote = f"<[{markers[QUOTE]}]>"
    rules = _Rules(quote)
    calls = [f"{_literal('call:' + tool.name)} {rules.arguments(tool)}" for tool in chosen]
    root = f"<[{markers[_CALL]}]> ({' | '.join(calls)}) <[{markers[_END_CALL]}]>"
    # Between two quote tokens stands any text: no token is let in there that is not text.
    shared = {"string": f"{quote} !{quote}* {quote}"} | _SHARED
    lines = {"root": root} | rules.bodies | shared
    return "".join(f"{rule} ::= {body}\n" for rule, body in lines.items())


class _Rules:
    """Rules for schemas; ``bodies`` by rule name."""

    def __init__(self, quote: str) -> None:
        self.bodies: dict[str, str] = {}
        self._quote = quote
        self._root: Schema = {}
        self._references: dict[str, str] = {}

    def arguments(self, tool: Tool) -> str:
        """What follows the name of a tool."""
        self._root, self._references = tool.parameters, {}
        return self._object(resolved(tool.parameters, tool.parameters))

    def _value(self, schema: Schema) -> str:
        """A rule's name or an expression in brackets for one value."""
        reference = schema.get("$ref")
        if isinstance(reference, str):
            # A rule of its own, because a schema can contain itself.
            if reference not in self._references:
                name = self._references[reference] = self._reserve()
                self.bodies[name] = self._value(resolved(schema, self._root))
            return self._references[reference]
        if "const" in schema or isinstance(schema.get("enum"), Sequence):
            options = [schema["const"]] if "const" in schema else schema["enum"]
            return f"({' | '.join(map(self._constant, options))})"
        if choices := choices_of(schema):
            return f"({' | '.join(map(self._value, choices))})"
        kinds = types_of(schema)
        if not kinds:
            return "value"
        return f"({' | '.join(self._typed(kind, schema) for kind in kinds)})"

    def _typed(self, kind: str, schema: Schema) -> str:
        if kind == "object":
            return self._object(schema)
        if kind == "array" and isinstance(schema.get("items"), Mapping):
            item = self._named(self._value(schema["items"]))
            return f'"[" ({item} ("," {item})*)? "]"'
        if kind in _SHARED or kind in _FREE:
            return _FREE.get(kind, kind)
        return "value"

    def _object(self, schema: Schema) -> str:
        """Keys in the order of the templates; those that need not be given may be missing.

        Built from the last key backwards: ``first`` is what may follow when no key stands before
        it, ``more`` when one does, so that commas stand between keys only.
        """
        if "properties" not in schema:
            return "object"
        properties = properties_of(schema)
        if not properties:
            return '"{}"'
        required = required_of(schema)
        first, more = '"}"', '"}"'
        for key, _ in reversed(sorted_items(properties)):
            value = self._named(self._value(properties[key]))
            pair = f"{_literal(key + ':')} {value}"
            is_required = key in required
            given_first, given_more = f"{pair} {more}", f'"," {pair} {more}'
            first = self._named(given_first if is_required else f"{given_first} | {first}")
            more = self._named(given_more if is_required else f"{given_more} | {more}")
        return f'"{{" {first}'

    def _constant(self, option: Any) -> str:
        if isinstance(option, str):
            return f"{self._quote} {_literal(option)} {self._quote}"
        if isinstance(option, (dict, list)):
            return "value"
        return _literal(json.dumps(option))

    def _named(self, body: str) -> str:
        name = self._reserve()
        self.bodies[name] = body
        return name

    def _reserve(self) -> str:
        name = f"r{len(self.bodies)}"
        self.bodies[name] = ""
        return name


def _literal(text: str) -> str:
    """``text`` in quotes of GBNF."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(letter: str) -> str:
    if letter in '"\\':
        return "\\" + letter
    return letter if letter.isprintable() else f"\\U{ord(letter):08X}"

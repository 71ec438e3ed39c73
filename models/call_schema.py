"""Arguments against the JSON schema of their tool: what fits, what is meant, what is wrong.

Of JSON schema this knows type (also lists of types), properties, required, additionalProperties,
items, enum, const, anyOf, oneOf and references inside the schema; it lets pass what it does not
know.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gemma_local.models.call_names import closest_key
from gemma_local.models.call_syntax import Bare, Written
from gemma_local.models.json_schema import (
    Schema,
    choices_of,
    properties_of,
    required_of,
    resolved,
    types_of,
)
from gemma_local.models.message import Value

_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_LONGEST_NUMBER: Final = 400
_NULLS: Final = ("null", "None", "NULL", "Null", "nil", "undefined")
_DEEPEST: Final = 100


class Misfit(Exception):
    """Arguments that do not fit; ``str`` says how, for the model, in a few words."""


def plain(value: Written) -> Value:
    """A value by its looks alone, as if every schema allowed it."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, Bare):
        is_literal, literal = _literal(value)
        return literal if is_literal else str(value)
    return value


def as_written(value: Any) -> Written:
    """What JSON was decoded to, as if it stood in a call."""
    if isinstance(value, dict):
        return {str(key): as_written(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_written(item) for item in value]
    return value if isinstance(value, str) else Bare(json.dumps(value))


class Fitting:
    """Fits written arguments to a schema. ``repairs`` names what had to be changed."""

    def __init__(self, schema: Schema) -> None:
        self._root = schema
        self.repairs: list[str] = []
        self._level = 0

    def arguments(self, written: dict[str, Written]) -> dict[str, Value]:
        """The arguments as the schema wants them. Raises Misfit."""
        schema = resolved(self._root, self._root)
        keys = [key for key in properties_of(schema) if key not in written]
        for key, value in written.items():
            if isinstance(value, Bare):
                for other in keys:
                    if re.search(rf"\s{re.escape(other)}\s*[:=]", value):
                        raise Misfit(f'"{key}" leaves open where it ends and "{other}" begins')
        return self._object(written, schema, "")

    def _fit(self, value: Written, schema: Schema, where: str) -> Value:
        # A schema can refer to itself without end, whatever the value is.
        if self._level > _DEEPEST:
            raise Misfit("its arguments are nested too deeply")
        self._level += 1
        try:
            return self._fit_here(value, self._resolved(schema), where)
        finally:
            self._level -= 1

    def _fit_here(self, value: Written, schema: Schema, where: str) -> Value:
        if choices := choices_of(schema):
            return self._first_fit(value, choices, where)
        types = types_of(schema)
        if len(types) > 1:
            return self._first_fit(value, [{**schema, "type": kind} for kind in types], where)
        fitted = self._typed(value, types[0] if types else "", schema, where)
        return self._allowed(fitted, schema, where)

    def _first_fit(self, value: Written, choices: Sequence[Schema], where: str) -> Value:
        """The choice that needs the fewest repairs; of equals the first.

        A bare word is only text if it can be nothing else.
        """
        if isinstance(value, Bare):
            choices = sorted(choices, key=lambda each: "string" in types_of(self._resolved(each)))
        best: tuple[int, Value, list[str]] | None = None
        own = {dict: "object", list: "array"}.get(type(value), "")
        problem: Misfit | None = None
        before = self.repairs
        for choice in choices:
            self.repairs = []
            try:
                fitted = self._fit(value, choice, where)
            except Misfit as misfit:
                if len(choices) == 1 or own in types_of(self._resolved(choice)):
                    problem = misfit
            else:
                if best is None or len(self.repairs) < best[0]:
                    best = len(self.repairs), fitted, self.repairs
        self.repairs = before
        if best is None:
            wanted = [kind for choice in choices for kind in types_of(self._resolved(choice))]
            raise problem or Misfit(f'"{where}" must be {_listed(wanted) or "another value"}')
        for repair in best[2]:
            self._repair(repair)
        return best[1]

    def _typed(self, value: Written, kind: str, schema: Schema, where: str) -> Value:
        if kind == "object" and isinstance(value, str):
            value = self._from_json(value, dict, where)
        if isinstance(value, dict):
            if kind not in ("", "object"):
                raise Misfit(f'"{where}" must be {_article(kind)}')
            return self._object(value, schema, where)
        if kind == "array" and not isinstance(value, list):
            value = self._as_list(value, where)
        if isinstance(value, list):
            if kind not in ("", "array"):
                raise Misfit(f'"{where}" must be {_article(kind)}')
            items = schema.get("items")
            of = items if isinstance(items, Mapping) else {}
            return [self._fit(item, of, f"{where}[{i}]") for i, item in enumerate(value)]
        return self._scalar(value, kind, where)

    def _scalar(self, value: str, kind: str, where: str) -> Value:
        is_bare = isinstance(value, Bare)
        is_literal, literal = _literal(value) if is_bare else (False, value)
        match kind:
            case "":
                if is_bare and not is_literal:
                    self._repair(f'"{where}" without quotes')
                elif is_bare and (literal is None or isinstance(literal, bool)):
                    self._spelling(value, literal)
                return literal if is_literal else str(value)
            case "string":
                if is_bare:
                    self._repair(f'"{where}" without quotes')
                return str(value)
            case "null":
                if value in _NULLS:
                    self._spelling(value, None)
                    return None
            case "boolean":
                if value.lower() in ("true", "false"):
                    if is_bare:
                        self._spelling(value, value.lower() == "true")
                    else:
                        self._repair(f'"{where}" to true or false')
                    return value.lower() == "true"
            case "integer" | "number":
                number = _number(value.strip())
                if number is not None and (kind == "number" or number == int(number)):
                    if not is_bare or (kind == "integer" and isinstance(number, float)):
                        self._repair(f'"{where}" to a number')
                    return int(number) if kind == "integer" else number
            case _:
                return plain(value)
        raise Misfit(f'"{where}" must be {_article(kind)}, not {_shortened(value)}')

    def _object(self, value: dict[str, Written], schema: Schema, where: str) -> dict[str, Value]:
        properties = properties_of(schema)
        extra = schema.get("additionalProperties", True if "properties" not in schema else None)
        prefix = f"{where}." if where else ""
        given = {key: item for key, item in value.items() if key in properties}
        others: dict[str, Value] = {}
        for key, item in value.items():
            if key in properties:
                continue
            if extra is True or isinstance(extra, Mapping):
                of = extra if isinstance(extra, Mapping) else {}
                others[key] = self._fit(item, of, prefix + key)
                continue
            meant = closest_key(key, [name for name in properties if name not in given])
            if meant is not None:
                self._repair(f'"{prefix}{key}" read as "{prefix}{meant}"')
                given[meant] = item
            elif isinstance(item, Bare) and item in _NULLS:
                self._repair(f'"{prefix}{key}" left out')
            else:
                raise Misfit(f'there is no "{prefix}{key}"')
        fitted: dict[str, Value] = {}
        for key, item in given.items():
            of = properties[key]
            if isinstance(item, Bare) and item in _NULLS and not self._takes_null(of):
                # As the templates write it: an argument that was not given.
                self._repair(f'"{prefix}{key}" left out')
                continue
            fitted[key] = self._fit(item, of, prefix + key)
        present = fitted | others
        missing = [prefix + key for key in required_of(schema) if key not in present]
        if missing:
            raise Misfit("missing " + " and ".join(f'"{key}"' for key in missing))
        return present

    def _takes_null(self, schema: Schema, level: int = 0) -> bool:
        """Whether null, as it may be spelled, can be meant as a value."""
        schema = self._resolved(schema)
        if choices := choices_of(schema):
            return level < 8 and any(self._takes_null(each, level + 1) for each in choices)
        kinds = types_of(schema)
        options = schema.get("enum")
        if isinstance(options, Sequence):
            return "null" in kinds or any(str(option) in _NULLS for option in options)
        return "null" in kinds or not kinds

    def _as_list(self, value: Written, where: str) -> list[Written]:
        if isinstance(value, str) and value.lstrip().startswith("["):
            found: list[Written] = self._from_json(value, list, where)
            return found
        self._repair(f'"{where}" to a list')
        return [value]

    def _from_json(self, text: str, kind: type, where: str) -> Any:
        """A container that was written as a string with JSON in it."""
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, kind):
            wanted = "object" if kind is dict else "array"
            raise Misfit(f'"{where}" must be {_article(wanted)}, not {_shortened(text)}')
        self._repair(f'"{where}" from JSON text')
        return as_written(found)

    def _allowed(self, value: Value, schema: Schema, where: str) -> Value:
        options = [schema["const"]] if "const" in schema else schema.get("enum")
        if not isinstance(options, Sequence) or isinstance(options, str):
            return value
        if any(_same(value, option) for option in options):
            return value
        if value is None and schema.get("nullable"):
            return value
        alike = [o for o in options if isinstance(o, str) and o.lower() == str(value).lower()]
        if len(alike) == 1:
            self._repair(f'"{where}" read as {alike[0]}')
            return alike[0]
        shown = ", ".join(str(option) for option in options[:12])
        raise Misfit(f'"{where}" must be one of {shown}, not {_shortened(str(value))}')

    def _resolved(self, schema: Schema) -> Schema:
        return resolved(schema, self._root)

    def _spelling(self, value: str, literal: Value) -> None:
        canonical = {None: "null", True: "true", False: "false"}[literal]  # type: ignore[index]
        if value != canonical:
            self._repair(f"spelling of {canonical}")

    def _repair(self, what: str) -> None:
        if what not in self.repairs:
            self.repairs.append(what)


def _literal(word: str) -> tuple[bool, Value]:
    """Whether a bare word stands for a value other than text, and that value."""
    if word in _NULLS:
        return True, None
    lowered = word.lower()
    if lowered in ("true", "false"):
        return True, lowered == "true"
    number = _number(word)
    return number is not None, number


def _number(word: str) -> int | float | None:
    if len(word) > _LONGEST_NUMBER or not _NUMBER.fullmatch(word):
        return None
    if word.lstrip("-").isdigit():
        return int(word)
    number = float(word)
    return number if math.isfinite(number) else None


def _same(value: Value, option: Any) -> bool:
    return bool(value == option) and isinstance(value, bool) == isinstance(option, bool)


def _article(kind: str) -> str:
    names = {
        "string": "a string",
        "boolean": "true or false",
        "integer": "a whole number",
        "number": "a number",
        "array": "a list",
        "object": "an object",
        "null": "null",
    }
    return names.get(kind, f"of type {kind}")


def _listed(kinds: Sequence[str]) -> str:
    return " or ".join(dict.fromkeys(map(_article, kinds)))


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 40 else f"{text[:37]}..."

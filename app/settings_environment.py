"""The settings among the environment variables."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from gemma_local.app.settings_variables import PREFIX, SHORT
from gemma_local.app.settings_words import model_of


@dataclass(frozen=True, slots=True)
class Variable:
    """A setting that a variable has: the variable's name, and the value in the setting's type."""

    name: str
    value: Any


def from_environment(environ: Mapping[str, str]) -> dict[tuple[str, str], Variable]:
    """The settings among the variables, by table and name: those with two underscores between
    the two. What is not of the setting's type stays the text that it is, to be refused."""
    found: dict[tuple[str, str], Variable] = {}
    # A long name goes before its short one.
    for variable in sorted(environ, key=lambda name: name not in SHORT):
        table, between, name = SHORT.get(variable, variable).removeprefix(PREFIX).partition("__")
        is_empty = variable in SHORT and not environ[variable]
        if variable.startswith(PREFIX) and between and not is_empty:
            key = table.lower(), name.lower()
            found[key] = Variable(variable, _converted(*key, environ[variable]))
    return found


def _converted(table: str, name: str, text: str) -> Any:
    model = model_of(table)
    kind = model.model_fields[name].annotation if model and name in model.model_fields else None
    if kind is None:
        return text
    try:
        value = tomllib.loads(f"it = {text}")["it"] if text.startswith("[") else text
        # Not strict, as the tables are: "90" is a number here, and "off" is false.
        return TypeAdapter[Any](kind).validate_python(value)
    except (ValidationError, tomllib.TOMLDecodeError):
        return text

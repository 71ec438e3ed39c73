"""Where each setting comes from: a default, the file, the environment or the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from gemma_local.app.settings import Settings
from gemma_local.app.settings_file import Gathered
from gemma_local.app.settings_options import TABLES, setting_value
from gemma_local.app.settings_problems import place
from gemma_local.app.settings_words import model_of

Source: TypeAlias = Literal["default", "file", "environment", "command line"]


@dataclass(frozen=True, slots=True)
class Sourced:
    """A setting with its source. ``line`` is the file's, 0 if it is not from there; ``variable`` is
    the name of the environment variable, "" likewise."""

    table: str
    name: str
    value: Any
    source: Source
    line: int = 0
    variable: str = ""


def sourced(gathered: Gathered, given: Mapping[str, Any]) -> list[Sourced]:
    """Every setting, in the order of the tables.

    Args:
        gathered: the settings of file and environment.
        given: options of the command line, by the names of their fields.
    """
    names = [
        (table, name)
        for table in Settings.model_fields
        for name in _names(table, getattr(gathered.settings, table))
    ]
    return [_sourced(gathered, given, table, name) for table, name in names]


def _names(table: str, values: Any) -> list[str]:
    model = model_of(table)
    return list(values) if model is None else list(model.model_fields)


def _sourced(gathered: Gathered, given: Mapping[str, Any], table: str, name: str) -> Sourced:
    values = getattr(gathered.settings, table)
    value = values[name] if isinstance(values, dict) else getattr(values, name)
    if name in given and table in (*TABLES, "agent"):
        return Sourced(table, name, setting_value(name, given[name]), "command line")
    if variable := gathered.variables.get((table, name)):
        return Sourced(table, name, value, "environment", variable=variable.name)
    if name in gathered.file.get(table, {}):
        line, _ = place(gathered.text, (table, name))
        return Sourced(table, name, value, "file", line=line)
    return Sourced(table, name, value, "default")

"""What is wrong with settings, as a sentence: where, what, and what would be right."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

from pydantic import ValidationError

from gemma_local.app.settings import Settings
from gemma_local.app.settings_words import allowed, model_of

_MOST_LINES: Final = 2000
"""A file longer than this is no settings file, and the place of its errors is not looked for."""


def problem(
    error: ValidationError,
    values: Mapping[str, Any],
    where: str,
    text: str = "",
    variables: Mapping[tuple[str, str], str] | None = None,
) -> str:
    """The first problem as a sentence.

    Args:
        values: what was validated, from which the wrong value is quoted.
        where: the name of the source, such as the file's.
        text: the file's text, from which line and column are told.
        variables: the variable of each setting that is from the environment.
    """
    first = error.errors(include_url=False)[0]
    at: Any = values
    known: list[str] = []
    # Not the steps that pydantic adds for its own types.
    for step in (step for step in first["loc"] if isinstance(step, str)):
        if not isinstance(at, dict) or step not in at:
            break
        at = at[step]
        known.append(step)
    if variables and tuple(known[:2]) in variables:
        where = variables[known[0], known[1]]
    line, column = place(text, known)
    if line:
        where += f", line {line}" + (f", column {column}" if column else "")
    return f"{where}: {_what(first['type'], known, at)}"


def place(text: str, way: Sequence[str]) -> tuple[int, int]:
    """Line and column of a setting, counted from 1; 0 where it cannot be told.

    The shortest beginning of the file that has it ends in its last line.
    """
    lines = text.splitlines(keepends=True)
    if not way or len(lines) > _MOST_LINES:
        return 0, 0
    for end in range(1, len(lines) + 1):
        if not _is_in("".join(lines[:end]), way):
            continue
        # A value over several lines begins further up, with the name.
        while end > 1 and way[-1] not in lines[end - 1]:
            end -= 1
        return end, lines[end - 1].find(way[-1]) + 1
    return 0, 0


def _is_in(text: str, way: Sequence[str]) -> bool:
    try:
        at: Any = tomllib.loads(text)
        for step in way:
            at = at[step]
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
    return True


def _what(kind: str, way: Sequence[str], value: Any) -> str:
    name, table = way[-1], way[0]
    if kind == "extra_forbidden":
        return _unknown(way)
    if kind == "model_type" or (kind == "dict_type" and len(way) == 1):
        return f"{table} is a table; write it as [{table}], with its settings below"
    return f"{name} must be {allowed(table, name)}, not {_short(value)}"


def _unknown(way: Sequence[str]) -> str:
    """The sentence about a name that there is not, with the nearest one that there is."""
    name, table = way[-1], way[0]
    if len(way) == 1:
        names, what = list(Settings.model_fields), f"there is no table [{name}]"
    else:
        model = model_of(table)
        names = list(model.model_fields) if model is not None else []
        what = f"there is no setting {name!r} in [{table}]"
        elsewhere = _tables_with(name)
        if elsewhere:
            return f"{what}; it belongs under [{elsewhere[0]}]"
    near = get_close_matches(name.lower(), names, n=1, cutoff=0.5)
    return f"{what}; did you mean {near[0]}?" if near else f"{what}; give {_listed(names)}"


def _tables_with(name: str) -> list[str]:
    models = {table: model_of(table) for table in Settings.model_fields}
    return [table for table, model in models.items() if model and name in model.model_fields]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else (*names, "another")[0]

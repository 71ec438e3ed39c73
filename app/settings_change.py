"""Two ways to change one setting in the text of the file. Whether they did is for the caller to
check: what the changed text means, and that it means nothing else."""

from __future__ import annotations

import re
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError


def toml_value(value: Any) -> str:
    """A value as it stands in the file."""
    return str(tomlkit.item(value).as_string())


def switched_on(text: str, table: str, name: str, value: Any) -> str | None:
    """``text`` with the comment ``# name = ...`` under ``[table]`` replaced by the setting; None if
    there is none."""
    lines = text.splitlines(keepends=True)
    inside = False
    for index, line in enumerate(lines):
        if line.lstrip().startswith("["):
            inside = re.match(rf"\s*\[\s*{re.escape(table)}\s*\]", line) is not None
        elif inside and re.match(rf"#\s*{re.escape(name)}\s*=", line):
            end = line[len(line.rstrip("\r\n")) :]
            lines[index] = f"{name} = {toml_value(value)}{end}"
            return "".join(lines)
    return None


def edited(text: str, table: str, name: str, value: Any) -> str | None:
    """``text`` with the setting changed or added, and its comments left alone; None if it is
    written in a way that cannot be changed."""
    try:
        document = tomlkit.parse(text)
        if table not in document:
            document[table] = tomlkit.table()
        _put(document[table], name, value)
        return tomlkit.dumps(document)
    except (TOMLKitError, ValueError, RecursionError):
        return None


def _put(table: Any, name: str, value: Any) -> None:
    """Set a value; of a list that only grows, what is there stays with its comments."""
    old = table.get(name)
    if isinstance(old, list) and isinstance(value, list) and value[: len(old)] == list(old):
        for item in value[len(old) :]:
            old.append(item)
    else:
        table[name] = value

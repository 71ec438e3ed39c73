"""Running ``gemma-local config``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from gemma_local.app import folders
from gemma_local.app.config_command.options import (
    ConfigOptions,
    InitOptions,
    SchemaOptions,
    ShowOptions,
)
from gemma_local.app.config_command.schema import schema
from gemma_local.app.config_command.sources import Sourced, sourced
from gemma_local.app.config_command.template import template
from gemma_local.app.exit_codes import ExitCode
from gemma_local.app.output import write_json
from gemma_local.app.settings_change import toml_value
from gemma_local.app.settings_file import create, gather
from gemma_local.app.terminal import printable


def run(options: ConfigOptions) -> ExitCode:
    """Do what was asked for. Raises BadSettings."""
    match options:
        case ShowOptions():
            _show(options)
        case InitOptions(print=True):
            print(template(), end="")
        case InitOptions():
            path = folders.settings_path()
            create(template(), path)
            print(f"{path} is written; everything in it is commented out, so nothing changes yet")
        case SchemaOptions():
            print(json.dumps(schema(), indent=2))
    return ExitCode.OK


def _show(options: ShowOptions) -> None:
    gathered = gather()
    settings = sourced(gathered, options.given)
    if options.changed:
        settings = [one for one in settings if one.source != "default"]
    if options.json:
        values = {f"{one.table}.{one.name}": _as_json(one) for one in settings}
        write_json({"file": str(gathered.path), "settings": values})
    else:
        text = "\n".join(_lines(settings, gathered.path, is_there=bool(gathered.text)))
        print(printable(text, sys.stdout))


def _as_json(one: Sourced) -> dict[str, object]:
    place = {"line": one.line} if one.line else {}
    variable = {"variable": one.variable} if one.variable else {}
    return {"value": one.value, "from": one.source, **place, **variable}


def _lines(settings: Sequence[Sourced], path: Path, *, is_there: bool) -> Iterator[str]:
    """The settings as TOML, with the source of each as a comment beside it."""
    yield f"# {path}" if is_there else f"# {path} (not there; `gemma-local config init` writes it)"
    for table, group in groupby(settings, key=lambda one: one.table):
        lines = [(f"{_key(one.name)} = {toml_value(one.value)}", _origin(one)) for one in group]
        width = min(40, max(len(text) for text, _ in lines))
        yield ""
        yield f"[{table}]"
        for text, origin in lines:
            yield f"{text:<{width}}  # {origin}"


def _key(name: str) -> str:
    is_bare = name.replace("_", "").replace("-", "").isalnum() and name.isascii()
    return name if is_bare else toml_value(name)


def _origin(one: Sourced) -> str:
    match one.source:
        case "file":
            return f"file, line {one.line}" if one.line else "file"
        case "environment":
            return f"environment, {one.variable}"
        case source:
            return source

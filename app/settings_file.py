"""Reading and changing the file with the settings."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gemma_local.app import folders
from gemma_local.app.errors import BadSettings
from gemma_local.app.file_replacing import replace_file
from gemma_local.app.settings import Settings
from gemma_local.app.settings_environment import Variable, from_environment
from gemma_local.app.settings_problems import problem


@dataclass(frozen=True, slots=True)
class Gathered:
    """The settings, and what each source has of them.

    ``file`` is what stands in the file, ``text`` its text; ``variables`` are settings in
    environment variables, by table and name.
    """

    settings: Settings
    path: Path
    text: str
    file: Mapping[str, Any]
    variables: Mapping[tuple[str, str], Variable]


def load_settings(path: Path | None = None, environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings: defaults, over them the file's, over them the environment's.

    ``GEMMA_LOCAL_SCREEN__THEME=gemma-light`` stands for ``theme`` in ``[screen]``. No file is an
    empty file. Raises BadSettings, with file, line and column where there is one.
    """
    return gather(path, environ).settings


def gather(path: Path | None = None, environ: Mapping[str, str] = os.environ) -> Gathered:
    """The settings with their sources. Raises BadSettings as ``load_settings`` does."""
    path = path or folders.settings_path()
    text = _read(path)
    values = _parse(text, path)
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        raise BadSettings(problem(error, values, str(path), text)) from error
    variables = from_environment(environ)
    if variables:
        overrides: dict[str, dict[str, Any]] = {}
        for (table, name), variable in variables.items():
            overrides.setdefault(table, {})[name] = variable.value
        names = {key: variable.name for key, variable in variables.items()}
        try:
            # What the file says of a key stays unless the environment says something about it.
            settings = Settings.model_validate(_merged(values, overrides))
        except ValidationError as error:
            where = "the environment"
            raise BadSettings(problem(error, overrides, where, variables=names)) from error
    return Gathered(settings, path, text, values, variables)


def remember(key: str, value: Any, path: Path | None = None) -> None:
    """Change one setting in the file, and nothing else in it, comments included.

    Args:
        key: table and name, such as "screen.theme".
        value: of the setting's own type.

    Raises:
        BadSettings: the file cannot be read or written, or the value makes no sense; the file is
            as it was.
    """
    from gemma_local.app.settings_change import edited, switched_on

    path = path or folders.settings_path()
    table, _, name = key.partition(".")
    text = _read(path)
    before = _parse(text, path)
    after = _merged(before, {table: {name: value}})
    try:
        Settings.model_validate(after)
    except ValidationError as error:
        raise BadSettings(problem(error, after, str(path), text)) from error
    for way in (switched_on, edited):
        written = way(text, table, name, value)
        if written is not None and _means(written, after):
            _replace(path, written)
            return
    raise BadSettings(
        f"{path} is written in a way in which {key} cannot be changed; "
        f"change it by hand, under [{table}]"
    )


def create(text: str, path: Path) -> None:
    """Write a settings file where there is none. Raises BadSettings."""
    if path.exists():
        raise BadSettings(
            f"{path} is there already; `gemma-local config init --print` shows what a new one holds"
        )
    _replace(path, text, otherwise="look at the folder's permissions")


def _means(text: str, values: Mapping[str, Any]) -> bool:
    try:
        return tomllib.loads(text) == values
    except (ValueError, RecursionError):
        return False


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise BadSettings(f"{path} cannot be read ({error.strerror}); mend or delete it") from error
    except UnicodeDecodeError as error:
        raise BadSettings(f"{path} is not text in UTF-8; save it as UTF-8, or delete it") from error


def _parse(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadSettings(f"{path} is not valid TOML: {error}") from error
    except (ValueError, RecursionError) as error:
        raise BadSettings(f"{path} is not valid TOML; mend or delete it") from error


def _replace(path: Path, text: str, *, otherwise: str = "the change lasts until you leave") -> None:
    """Write a file so that it is the old one or the new one, whatever happens."""
    # The file itself, where it is a link into a folder of dotfiles.
    path = path.resolve()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text.encode(), is_durable=True)
    except OSError as error:
        raise BadSettings(f"{path} cannot be written ({error.strerror}); {otherwise}") from error


def _merged(base: Mapping[str, Any], over: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    result = dict(base)
    for table, values in over.items():
        own = result.get(table)
        result[table] = {**(own if isinstance(own, dict) else {}), **values}
    return result

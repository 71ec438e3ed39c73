"""Reading and changing the file with the settings."""

from __future__ import annotations

import os
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, TypeAdapter, ValidationError

from gemma_local.app import folders
from gemma_local.app.settings import Settings
from gemma_local.models.errors import GemmaLocalError

_PREFIX: Final = "GEMMA_LOCAL_"
_MOST_LINES: Final = 2000
"""A file longer than this is no settings file, and the place of its errors is not looked for."""


class BadSettings(GemmaLocalError):
    """Settings that cannot be read, or make no sense."""


def load_settings(path: Path | None = None, environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings: defaults, over them the file's, over them the environment's.

    ``GEMMA_LOCAL_SCREEN__THEME=gemma-light`` stands for ``theme`` in ``[screen]``. No file is an
    empty file. Raises BadSettings, with file, line and column where there is one.
    """
    path = path or folders.settings_path()
    text = _read(path)
    values = _parse(text, path)
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        raise BadSettings(_problem(error, values, str(path), text)) from error
    overrides = _from_environment(environ)
    if not overrides:
        return settings
    try:
        # What the file says of a key stays unless the environment says something about it.
        return Settings.model_validate(_merged(values, overrides))
    except ValidationError as error:
        raise BadSettings(_problem(error, overrides, "the environment")) from error


def remember(key: str, value: Any, path: Path | None = None) -> None:
    """Change one setting in the file, and nothing else in it, comments included.

    Args:
        key: table and name, such as "screen.theme".
        value: of the setting's own type.

    Raises:
        BadSettings: the file cannot be read or written, or the value makes no sense; the file is
            as it was.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    path = path or folders.settings_path()
    table, _, name = key.partition(".")
    text = _read(path)
    before = _parse(text, path)
    after = _merged(before, {table: {name: value}})
    try:
        Settings.model_validate(after)
    except ValidationError as error:
        raise BadSettings(_problem(error, after, str(path), text)) from error
    try:
        document = tomlkit.parse(text)
        if table not in document:
            document[table] = tomlkit.table()
        _put(document[table], name, value)
        written = tomlkit.dumps(document)
        is_right = tomllib.loads(written) == after
    except (TOMLKitError, ValueError, RecursionError):
        is_right = False
    if not is_right:
        raise BadSettings(
            f"{path} is written in a way in which {key} cannot be changed; "
            f"change it by hand, under [{table}]"
        )
    _replace(path, written)


def _put(table: Any, name: str, value: Any) -> None:
    """Set a value; of a list that only grows, what is there stays with its comments."""
    old = table.get(name)
    if isinstance(old, list) and isinstance(value, list) and value[: len(old)] == list(old):
        for item in value[len(old) :]:
            old.append(item)
    else:
        table[name] = value


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


def _replace(path: Path, text: str) -> None:
    """Write a file so that it is the old one or the new one, whatever happens."""
    # The file itself, where it is a link into a folder of dotfiles.
    path = path.resolve()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise BadSettings(
            f"{path} cannot be written ({error.strerror}); the change lasts until you leave"
        ) from error


def _merged(base: Mapping[str, Any], over: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    result = dict(base)
    for table, values in over.items():
        own = result.get(table)
        result[table] = {**(own if isinstance(own, dict) else {}), **values}
    return result


def _from_environment(environ: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The settings among the variables: those with two underscores between table and name."""
    found: dict[str, dict[str, Any]] = {}
    for variable, text in environ.items():
        table, between, name = variable.removeprefix(_PREFIX).lower().partition("__")
        if variable.startswith(_PREFIX) and between:
            found.setdefault(table, {})[name] = _converted(table, name, text)
    return found


def _converted(table: str, name: str, text: str) -> Any:
    """``text`` as the type of the setting, where it can be read so."""
    model = _model(table)
    if model is None or name not in model.model_fields:
        return text
    annotation = model.model_fields[name].annotation
    if annotation not in (bool, int):
        return text
    try:
        return TypeAdapter[Any](annotation).validate_python(text)
    except ValidationError:
        return text


def _model(table: str) -> type[BaseModel] | None:
    """The class of a table; None if it is none, or one with names of its own, as ``keys``."""
    field = Settings.model_fields.get(table)
    kind = field.annotation if field is not None else None
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _problem(error: ValidationError, values: Any, where: str, text: str = "") -> str:
    """The first problem as a sentence: where it is, what is wrong, what would be right."""
    first = error.errors(include_url=False)[0]
    way = [step for step in first["loc"] if isinstance(step, str)]
    # Not the steps that pydantic adds for its own types.
    at, known = values, []
    for step in way:
        if not isinstance(at, dict) or step not in at:
            break
        at = at[step]
        known.append(step)
    place = _place(text, known)
    return f"{where}{place}: {_what(first, known, at)}"


def _what(problem: Any, way: Sequence[str], value: Any) -> str:
    name, table = way[-1], way[0]
    if problem["type"] == "extra_forbidden":
        model = _model(table) if len(way) > 1 else Settings
        names = list(model.model_fields) if model is not None else []
        what = f"there is no setting {name!r} in [{table}]"
        if len(way) == 1:
            what = f"there is no table [{name}]"
        near = get_close_matches(name.lower(), names, n=1, cutoff=0.5)
        return f"{what}; did you mean {near[0]}?" if near else f"{what}; give {_listed(names)}"
    if problem["type"] == "model_type" or (problem["type"] == "dict_type" and len(way) == 1):
        return f"{table} is a table; write it as [{table}], with its settings below"
    context = problem.get("ctx", {})
    match problem["type"]:
        case "literal_error":
            wanted = str(context["expected"]).replace("'", '"')
        case "bool_type":
            wanted = "true or false"
        case "int_type" | "greater_than_equal" | "less_than_equal":
            wanted = f"a whole number{_bounds(table, name)}"
        case _ if name == "rules":
            wanted = 'a list such as ["run: pytest *", "edit: src/**"]'
        case _ if table == "keys":
            wanted = 'a key such as "ctrl+x", or a list of keys'
        case _:
            wanted = "some text"
    return f"{name} must be {wanted}, not {_short(value)}"


def _bounds(table: str, name: str) -> str:
    model = _model(table)
    limits = model.model_fields[name].metadata if model is not None else []
    low = next((limit.ge for limit in limits if hasattr(limit, "ge")), None)
    high = next((limit.le for limit in limits if hasattr(limit, "le")), None)
    return f" from {low} to {high}" if None not in (low, high) else ""


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}" if names else "another"


def _place(text: str, way: Sequence[str]) -> str:
    """Line and column of a setting: the shortest beginning of the file that has it ends there."""
    lines = text.splitlines(keepends=True)
    if not way or len(lines) > _MOST_LINES:
        return ""
    for end in range(1, len(lines) + 1):
        try:
            at: Any = tomllib.loads("".join(lines[:end]))
            for step in way:
                at = at[step]
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
        # A value over several lines begins further up, with the name.
        while end > 1 and way[-1] not in lines[end - 1]:
            end -= 1
        column = lines[end - 1].find(way[-1])
        return f", line {end}, column {column + 1}" if column >= 0 else f", line {end}"
    return ""

"""Reading, merging and criticising files of the form of ``catalog.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any, TypeAlias

from pydantic import ValidationError

from gemma_local.models.errors import GemmaLocalError

Table: TypeAlias = dict[str, Any]

_FILES = ("target", "drafter", "projector")
"""The lists of files that a size has."""


class BadCatalog(GemmaLocalError):
    """A catalog that cannot be read, or an entry that makes no sense."""


def parse(text: str, where: str) -> list[Table]:
    """The tables of all sizes.

    Args:
        text: TOML.
        where: the file's name, for sentences.

    Raises:
        BadCatalog: it is no TOML (with line and column), or not made of ``[[size]]`` tables with
            a ``label``.
    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadCatalog(f"{where} is not valid TOML: {error}.") from error
    unknown = sorted(set(tables) - {"size"})
    if unknown:
        raise BadCatalog(
            f"{where} holds {unknown[0]!r}, which means nothing here; a catalog is made of "
            "[[size]] tables."
        )
    sizes = tables.get("size", [])
    if not isinstance(sizes, list) or not all(isinstance(size, dict) for size in sizes):
        raise BadCatalog(f"{where} must write its sizes as [[size]], with two brackets.")
    labels = [size.get("label") for size in sizes]
    for number, label in enumerate(labels):
        if not isinstance(label, str):
            raise BadCatalog(f'{where}: size number {number + 1} lacks its label = "...".')
        if label in labels[:number]:
            raise BadCatalog(f"{where}: there are two sizes with the label {label!r}.")
    return sizes


def merge(base: list[Table], own: list[Table], where: str) -> list[Table]:
    """``base`` with what ``own`` adds and overrides.

    A size of a known label keeps what ``own`` leaves out of it; its files are told apart by
    repository and file name, and those that ``own`` names come first, in their order there.

    Raises:
        BadCatalog: a list of files is something else.
    """
    merged = {size["label"]: size for size in base}
    for size in own:
        label = size["label"]
        merged[label] = _merge_size(merged.get(label, {}), size, f"{where}: size {label!r}")
    return list(merged.values())


def _merge_size(base: Table, own: Table, where: str) -> Table:
    result = {**base, **own}
    for kind in _FILES:
        if kind in own:
            result[kind] = _merge_files(base.get(kind, []), own[kind], f"{where}: {kind}")
    for name in ("shape", "drafter_shape", "sampling"):
        theirs, ours = base.get(name), own.get(name)
        if isinstance(theirs, dict) and isinstance(ours, dict):
            result[name] = {**theirs, **ours}
    return result


def _merge_files(base: list[Table], own: Any, where: str) -> list[Table]:
    if not isinstance(own, list) or not all(isinstance(file, dict) for file in own):
        raise BadCatalog(f"{where} must be written as a [[size.{where.split()[-1]}]] table.")
    known = {_key(file): file for file in base}
    named = {_key(file): {**known.get(_key(file), {}), **file} for file in own}
    return [*named.values(), *(file for key, file in known.items() if key not in named)]


def _key(file: Mapping[str, Any]) -> tuple[str, str]:
    return str(file.get("repository")), str(file.get("file"))


def sentence(error: ValidationError, sizes: list[Table], where: str) -> str:
    """The first problem of a catalog, with the way to the field that it is in."""
    problem = error.errors(include_url=False)[0]
    steps: list[str] = []
    at: Any = {"size": sizes}
    for step in problem["loc"]:
        try:
            at = at[step]
        except (KeyError, IndexError, TypeError):
            at = None
        if isinstance(step, str):
            steps.append(step)
        elif isinstance(at, dict) and ("label" in at or "file" in at):
            steps[-1] += f" {at.get('label', at.get('file'))!r}"
        else:
            steps[-1] += f" number {step + 1}"
    message = problem["msg"].removeprefix("Value error, ")
    return f"{where}: {', '.join(steps)}: {message[:1].lower()}{message[1:]}."

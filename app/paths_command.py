"""``gemma-local paths``: every folder that something is kept in, so that nothing lies hidden."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from gemma_local.app.arguments import Parser, refuse
from gemma_local.app.exit_codes import ExitCode

_WHAT: Final = {
    "settings": "what you have set: config.toml, catalog.toml",
    "data": "conversations, and models that you copied in",
    "models": "downloaded models, shared with other programs; `gemma-local models rm` deletes",
    "state": "what was measured here, prompts you wrote, files before they were changed",
    "cache": "what can be made again: what was read of conversations",
    "log": "the engine's log",
}


@dataclass(kw_only=True, slots=True)
class PathsOptions:
    """``json``: one object in place of the list."""

    json: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """A folder: what it is for, and the bytes in it, None where that was not counted."""

    name: str
    path: Path
    exists: bool
    bytes: int | None
    what: str


def parser() -> Parser:
    """The options of ``gemma-local paths``."""
    made = Parser(
        "gemma-local paths",
        "Lists the folders in which gemma-local keeps something. Uninstalling leaves them; delete\n"
        "them and nothing of it is left.",
    )
    made.add_argument("--json", action="store_true", help="print one JSON object")
    return made


def parse_paths(arguments: Sequence[str]) -> PathsOptions:
    """Options of ``gemma-local paths``. Raises UsageError."""
    grammar, options = parser(), PathsOptions()
    refuse(grammar, grammar.parse_known_args(arguments, options)[1])
    return options


def run(options: PathsOptions) -> ExitCode:
    """Print the folders."""
    from gemma_local.app.output import write_json
    from gemma_local.app.terminal import printable
    from gemma_local.models.foreign_file import human_bytes

    found = places()
    if options.json:
        write_json({place.name: {**asdict(place), "path": str(place.path)} for place in found})
        return ExitCode.OK
    for place in found:
        size = "not there" if not place.exists else ""
        if place.bytes is not None and place.exists:
            size = human_bytes(place.bytes)
        print(printable(f"{place.name:<9} {place.path}", sys.stdout))
        print(f"{'':<9} {place.what}{f' ({size})' if size else ''}")
    return ExitCode.OK


def places() -> list[Place]:
    """The folders. Of the one with downloaded models, which other programs use too, the size is
    not counted."""
    from gemma_local.app import folders
    from gemma_local.models.store.hub_cache import HubCache

    paths = {**folders.places(), "models": HubCache().folder}
    return [
        Place(
            name,
            paths[name],
            paths[name].is_dir(),
            None if name == "models" else _bytes_in(paths[name]),
            what,
        )
        for name, what in _WHAT.items()
    ]


def _bytes_in(folder: Path) -> int:
    """Bytes of all files in a folder; what cannot be read counts nothing."""
    total, pending = 0, [folder]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(Path(entry.path))
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
        except OSError:
            continue
    return total

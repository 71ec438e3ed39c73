"""The tool that lists a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gemma_local.app.agent.files.workspace import Place
from gemma_local.app.agent.tool import Effect, Result, Step, ToolProblem
from gemma_local.app.agent.tools.arguments import declared, text_of
from gemma_local.app.agent.tools.kit import Kit
from gemma_local.app.counted import counted
from gemma_local.app.stop import Stop
from gemma_local.app.workspace.errors import TooLarge
from gemma_local.app.workspace.listing import Listing, list_files
from gemma_local.models.message import Tool as Declaration
from gemma_local.models.message import Value

_DEPTH: Final = 2
_PER_FOLDER: Final = 40
"""Files of one folder that are shown, so that a large one leaves room for the others."""


class List:
    """``list(path)``."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    @property
    def declaration(self) -> Declaration:
        """As the model reads it."""
        return declared(
            "list",
            f"List a folder's files, {_DEPTH} levels deep, without those that git ignores.",
            path=("string?", "default: the workspace"),
        )

    def step(self, arguments: Mapping[str, Value]) -> Step:
        """Raises ToolProblem."""
        return Listed(self._kit, self._kit.workspace.reading(text_of(arguments, "path", ".")))


@dataclass(frozen=True, slots=True)
class Listed:
    """A folder to be listed."""

    kit: Kit
    place: Place

    @property
    def effect(self) -> Effect:
        """Looking at one folder."""
        rule = self.place.rule("read") if self.place.why else ""
        return Effect("read", self._name, why=self.place.why, rule=rule)

    def carry_out(self, stop: Stop, on_output: Callable[[str], None]) -> Result:
        """Raises ToolProblem."""
        folder = self.place.path
        if not folder.exists():
            raise ToolProblem(f"There is no folder {self.place.shown}. Use list without a path.")
        if not folder.is_dir():
            raise ToolProblem(f"{self.place.shown} is a file. Use read.")
        try:
            try:
                root = self.place.base or self.kit.workspace.folder
                listing = list_files(folder, root=root)
            except TooLarge:
                names = [
                    f"{entry.name}/" if entry.is_dir() else entry.name for entry in _in(folder)
                ]
                return Result(self._text(sorted(names), len(names), False), f"{len(names):,} names")
            others = _others(folder, listing)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise ToolProblem(f"{self.place.shown} could not be listed: {reason}.") from error
        tree = _Folder.of(listing)
        lines = list(_lines(tree, folder, others))
        count = len(listing.paths)
        if not lines:
            return Result(f"{self._name} is empty.", "empty")
        return Result(self._text(lines, count, listing.is_whole), counted(count, "file"))

    @property
    def _name(self) -> str:
        return f"{self.place.shown.rstrip('/')}/"

    def _text(self, lines: list[str], count: int, is_whole: bool) -> str:
        left = self.kit.budget.result_characters - 200
        shown: list[str] = []
        for line in lines[: self.kit.budget.entries]:
            left -= len(line) + 1
            if left < 0:
                break
            shown.append(line)
        head = f"{self._name} ({'' if is_whole else 'more than '}{count:,} files)"
        text = "\n".join([head, *shown])
        if more := len(lines) - len(shown):
            text += f"\n[{more:,} more entries: list a folder in it]"
        return text


@dataclass(slots=True)
class _Folder:
    """Files by name, and folders; ``count`` of files in all of them."""

    files: list[str] = field(default_factory=list)
    folders: dict[str, _Folder] = field(default_factory=dict)
    count: int = 0

    @classmethod
    def of(cls, listing: Listing) -> _Folder:
        top = cls()
        for path in listing.paths:
            *above, name = path.split("/")
            folder = top
            folder.count += 1
            for part in above:
                folder = folder.folders.setdefault(part, cls())
                folder.count += 1
            folder.files.append(name)
        return top


def _lines(tree: _Folder, at: Path, others: list[str], level: int = 1) -> Iterator[str]:
    """Folders first, each with what is in it while that is not too deep."""
    indent = "  " * (level - 1)
    for name in sorted(tree.folders):
        inner = tree.folders[name]
        is_shown = level < _DEPTH
        count = "" if is_shown else f" ({inner.count:,} file{'s' if inner.count != 1 else ''})"
        yield f"{indent}{name}/{count}"
        if is_shown:
            yield from _lines(inner, at / name, [], level + 1)
    for name in others:
        yield f"{indent}{name}/ (empty or ignored)"
    names = sorted(tree.files)
    for name in names[:_PER_FOLDER]:
        yield f"{indent}{name}{_size(at / name)}"
    if len(names) > _PER_FOLDER:
        yield f"{indent}... {len(names) - _PER_FOLDER:,} more files"


def _others(folder: Path, listing: Listing) -> list[str]:
    """Folders in which no file was listed. Raises OSError."""
    known = {path.partition("/")[0] for path in listing.paths}
    return sorted(entry.name for entry in _in(folder) if entry.name not in known and entry.is_dir())


def _in(folder: Path) -> list[os.DirEntry[str]]:
    """What is in a folder, but for names that would break the lines. Raises OSError."""
    with os.scandir(folder) as entries:
        return [entry for entry in entries if entry.name.isprintable()]


def _size(path: Path) -> str:
    try:
        size = path.lstat().st_size
    except OSError:
        return ""
    if size < 1_000:
        return f"  {size} B"
    return f"  {size / 1000:,.1f} kB" if size < 1_000_000 else f"  {size / 1e6:,.1f} MB"

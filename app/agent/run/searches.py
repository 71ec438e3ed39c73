"""Commands that look into files which they do not name, such as ``grep -r``: which of these files
may hold secrets."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path, PurePath
from typing import Final

from gemma_local.app.agent.run.command import SimpleCommand
from gemma_local.app.agent.run.danger_table import has_option, leads_with
from gemma_local.app.agent.run.shell_reader import Word
from gemma_local.app.agent.run.surroundings import Surroundings
from gemma_local.app.agent.run.tables import table
from gemma_local.app.workspace.errors import TooLarge
from gemma_local.app.workspace.listing import SKIPPED, list_files
from gemma_local.app.workspace.sensitive import is_sensitive

_SECONDS: Final = 1.0
"""For looking into folders; longer nobody waits to be asked."""
_SIGNS: Final = frozenset("*?[:")
_MOST: Final = 50_000
_SAYING: Final = ("-e", "-f", "--regexp", "--file")
"""Options that say what is looked for."""


@dataclass(frozen=True, slots=True)
class Search:
    """A kind of command, as habits.toml explains it."""

    names: tuple[tuple[str, ...], ...]
    options: tuple[str, ...] = ()
    first: bool = False
    values: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    but_not: tuple[str, ...] = ()
    no_folder: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()

    @property
    def program(self) -> str:
        """The first of its programs."""
        return self.names[0][0]

    def name_of(self, command: SimpleCommand) -> tuple[str, ...]:
        """Which of its names ``command`` has, if it goes through folders; else none."""
        words = [word for word in command.arguments if word.is_known]
        for name in self.names:
            if name[0] == command.program and leads_with(words, name[1:]):
                is_wide = not self.options or any(has_option(words, one) for one in self.options)
                return name if is_wide else ()
        return ()


@dataclass(slots=True)
class _Request:
    """What a command says: words that are no options, and patterns by the option they are for."""

    search: Search
    plain: list[Word] = field(default_factory=list)
    given: dict[str, list[str]] = field(default_factory=dict)
    flags: set[str] = field(default_factory=set)

    def patterns(self, options: Sequence[str]) -> list[str]:
        return [text for option in options for text in self.given.get(option, ())]

    def looks_into(self, path: PurePath) -> bool:
        """Whether a file is looked into, ``path`` being the way to it from where it begins."""
        search = self.search
        name, folders = path.name, path.parts[:-1]
        only = self.patterns(search.only)
        if only and not any(fnmatchcase(name, one) for one in only):
            return False
        if any(fnmatchcase(name, one) for one in self.patterns(search.but_not)):
            return False
        # A folder may be named with the way to it; then it is the last part that counts here.
        leaves_out = [one.rstrip("/") for one in self.patterns(search.no_folder)]
        if any(fnmatchcase(part, one) for part in folders for one in leaves_out):
            return False
        skips_hidden = bool(search.hidden) and self.flags.isdisjoint(search.hidden)
        if skips_hidden and any(part.startswith(".") for part in path.parts):
            return False
        return self._fits_globs(path) and self._fits_specs(path)

    def _fits_specs(self, path: PurePath) -> bool:
        """Of git: patterns among the paths, which no shell has put files in the place of."""
        specs = [word.text for word in self.plain if _SIGNS & set(word.text)]
        if self.search.program != "git" or not specs or any(one[0] == ":" for one in specs):
            return True
        return any(fnmatchcase(path.as_posix(), one) for one in specs)

    def _fits_globs(self, path: PurePath) -> bool:
        globs = self.patterns(self.search.globs)
        if not globs:
            return True
        import pathspec

        wanted = pathspec.GitIgnoreSpec.from_lines(one for one in globs if one[:1] != "!")
        unwanted = pathspec.GitIgnoreSpec.from_lines(one[1:] for one in globs if one[:1] == "!")
        is_wanted = len(unwanted) == len(globs) or wanted.match_file(path.as_posix())
        return is_wanted and not unwanted.match_file(path.as_posix())


def secrets_searched(
    command: SimpleCommand, surroundings: Surroundings, folders: Sequence[Path | None]
) -> list[Path]:
    """Files of the workspace that ``command`` would look into without naming them, and that may
    hold secrets by their names. Only files that are there, and found within a second."""
    until = time.monotonic() + _SECONDS
    found: dict[Path, None] = {}
    for search in _searches():
        if not (name := search.name_of(command)):
            continue
        request = _read(search, command.arguments, skip=len(name) - 1)
        if not request.flags.isdisjoint(search.lists):
            continue
        # Without folders some read what comes to them.
        has_input = command.is_fed or bool(command.text_in or command.redirections)
        has_default = not has_input or bool(search.options) or search.program == "git"
        is_ignored = not search.ignored or not request.flags.isdisjoint(search.ignored)
        listed: Callable[[Path, float], Iterator[str]] = _walked if is_ignored else _of_git
        for folder in filter(None, folders):
            for start in _starts(request, surroundings, folder, has_default=has_default):
                for path in listed(start, until):
                    inner = _inner(start / path, surroundings.roots)
                    if is_sensitive(inner) and request.looks_into(PurePath(path)):
                        found[start / path] = None
    return list(found)


def _starts(
    request: _Request, surroundings: Surroundings, folder: Path, *, has_default: bool
) -> list[Path]:
    """Folders of the workspace in which a command that runs in ``folder`` begins to look; with
    ``has_default`` it is that one if it names none."""
    targets: list[Path] = []
    for word in request.plain:
        paths = surroundings.paths_of(word, folder) or []
        # Of a pattern the first is the folder that it is looked for in.
        targets += [one for one in paths[word.has_pattern :] if one.exists()]
    starts = targets or ([folder] if has_default else [])
    real = dict.fromkeys(Path(os.path.realpath(one)) for one in starts)
    return [
        one
        for one in real
        if one.is_dir() and any(one.is_relative_to(root) for root in surroundings.roots)
    ]


def _read(search: Search, arguments: Sequence[Word], *, skip: int) -> _Request:
    """``skip``: of the words that are no options so many belong to the name."""
    request = _Request(search)
    words = iter(arguments)
    is_said = not search.first
    has_ended = False
    for word in words:
        text = word.text
        if has_ended or not word.is_known or not text.startswith("-") or text == "-":
            request.plain.append(word)
            continue
        if text == "--":
            has_ended = True
            continue
        name, has_value, value = _option(text, search.values)
        if name in search.values:
            if not has_value:
                following = next(words, None)
                value = following.text if following is not None else ""
            request.given.setdefault(name, []).append(value)
        elif has_value:
            request.given.setdefault(name, []).append(value)
        is_said |= name in _SAYING
        request.flags |= {name, *(f"-{sign}" for sign in text[1:] if text[1] != "-")}
    del request.plain[: skip + (not is_said)]
    return request


def _option(text: str, values: Sequence[str]) -> tuple[str, bool, str]:
    """An option's name, whether a value stands in the same word, and that value. Of several
    letters the name is the first that takes one, or the last."""
    if text.startswith("--"):
        name, equals, value = text.partition("=")
        return name, bool(equals), value
    for at, sign in enumerate(text[1:], start=2):
        if f"-{sign}" in values:
            return f"-{sign}", bool(text[at:]), text[at:].removeprefix("=")
    return f"-{text[-1]}", False, ""


def _walked(folder: Path, until: float) -> Iterator[str]:
    """Paths of all files below a folder, but in what is fetched or made."""
    waiting = [""]
    count = 0
    while waiting and time.monotonic() < until and count < _MOST:
        below = waiting.pop()
        try:
            with os.scandir(folder / below) as entries:
                inside = [
                    (entry.name, entry.is_dir(follow_symlinks=False), entry.is_file())
                    for entry in entries
                ]
        except OSError:
            continue
        count += len(inside)
        for name, is_folder, is_file in inside:
            if is_folder and name not in SKIPPED:
                waiting.append(f"{below}{name}/")
            elif is_file:
                yield f"{below}{name}"


def _of_git(folder: Path, until: float) -> Iterator[str]:
    """Paths of the files below a folder that git does not ignore."""
    try:
        yield from list_files(folder, seconds=until - time.monotonic()).paths
    except (TooLarge, OSError):
        return


def _inner(path: Path, roots: Sequence[Path]) -> Path:
    root = next((one for one in roots if path.is_relative_to(one)), None)
    return path.relative_to(root) if root is not None else path


@cache
def _searches() -> tuple[Search, ...]:
    return tuple(
        Search(
            tuple(tuple(name.split()) for name in entry["commands"]),
            first=entry.get("first", False),
            **{
                name: tuple(entry.get(name, ()))
                for name in (
                    *("options", "values", "only", "but_not", "no_folder"),
                    *("globs", "hidden", "ignored", "lists"),
                )
            },
        )
        for entry in table("habits")["searches"]
    )

"""Which files a folder has: as git sees it, or by walking through it."""

from __future__ import annotations

import os
import stat
import subprocess
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gemma_local.app.workspace.errors import TooLarge
from gemma_local.app.workspace.git import environment_of_git, git_command
from gemma_local.app.workspace.mention import is_nameable

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

MOST: Final = 50_000
"""Files that are listed."""
SECONDS: Final = 2.0
"""Time that listing may take."""

SKIPPED: Final = frozenset(
    [
        ".git",
        ".hg",
        ".svn",
        ".venv",
        "__pycache__",
        "node_modules",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".tox",
    ]
)
"""Folders in which nobody looks for a file of theirs."""

_LS_FILES: Final = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
_CHUNK: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a folder at one moment.

    ``paths`` are relative to it, with "/" on every system, those nearest to it first; without
    names that cannot be written down, such as those with a newline.
    ``is_whole`` is false where a limit was reached.
    """

    paths: tuple[str, ...] = ()
    is_whole: bool = True


def list_files(
    folder: Path, *, most: int = MOST, seconds: float = SECONDS, root: Path | None = None
) -> Listing:
    """The files of ``folder`` that git does not ignore; without links that lead out of it.

    ``root`` is the workspace that it lies in, if it is not one itself: no program from there is
    run. Takes up to ``seconds``. Raises TooLarge for the home folder and what it lies in.
    """
    folder = folder.resolve()
    check_size(folder)
    until = time.monotonic() + seconds
    found = _taken(_of_git(folder, root or folder, until), most, until)
    # Git lists nothing where the whole folder is ignored; then somebody works there all the same.
    return found if found.paths else _taken(_of_walk(folder, until), most, until)


def check_size(folder: Path) -> None:
    """Raises TooLarge for the home folder and every folder that it lies in."""
    try:
        home = Path.home().resolve()
    except RuntimeError:
        home = None
    if folder == Path(folder.anchor) or (home is not None and home.is_relative_to(folder)):
        raise TooLarge(f"{folder} is too large to look for files in it: type a path")


def _taken(paths: Iterator[str], most: int, until: float) -> Listing:
    found: list[str] = []
    is_whole = True
    for path in paths:
        if len(found) == most or time.monotonic() > until:
            is_whole = False
            break
        if is_nameable(path):
            found.append(path)
    found.sort(key=lambda path: (path.count("/"), path))
    # When the time is up, those who list may just have stopped.
    return Listing(tuple(found), is_whole and time.monotonic() <= until)


# ------------------------------------------------------------------------------------- with git


def _of_git(folder: Path, root: Path, until: float) -> Iterator[str]:
    """Tracked and new files that are there, while git lists them; none without a repository."""
    for path in _said_by_git(folder, root, until):
        if SKIPPED.isdisjoint(path.split("/")) and _is_file_within(folder, path):
            yield path


def _said_by_git(folder: Path, root: Path, until: float) -> Iterator[str]:
    command = git_command(_LS_FILES, but_not_in=(folder, root))
    if command is None:
        return
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment_of_git(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return
    assert process.stdout is not None
    rest = b""
    try:
        while time.monotonic() < until and (chunk := os.read(process.stdout.fileno(), _CHUNK)):
            *paths, rest = (rest + chunk).split(b"\0")
            yield from map(os.fsdecode, paths)
    finally:
        process.kill()
        process.stdout.close()
        process.wait()


def _is_file_within(folder: Path, path: str) -> bool:
    """Whether a path is a file, or a link to one in the folder; git also lists deleted files and
    the folders of submodules."""
    full = folder / path
    try:
        mode = os.lstat(full).st_mode
        if stat.S_ISLNK(mode):
            return full.is_file() and full.resolve().is_relative_to(folder)
    except (OSError, RuntimeError):
        return False
    return stat.S_ISREG(mode)


# ---------------------------------------------------------------------------------- without git


def _of_walk(folder: Path, until: float) -> Iterator[str]:
    """Files by folder, the nearest first, without those that .gitignore files name."""
    waiting: deque[tuple[str, tuple[tuple[str, GitIgnoreSpec], ...]]] = deque([("", ())])
    while waiting and time.monotonic() < until:
        below, rules = waiting.popleft()
        try:
            with os.scandir(folder / below) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        if any(entry.name == ".gitignore" for entry in inside):
            rules = (*rules, *_rules_of(folder, below))
        for entry in inside:
            path = f"{below}{entry.name}"
            try:
                if entry.is_symlink():
                    if _is_file_within(folder, path) and not _is_ignored(path, rules):
                        yield path
                elif entry.is_dir():
                    if entry.name not in SKIPPED and not _is_ignored(f"{path}/", rules):
                        waiting.append((f"{path}/", rules))
                elif entry.is_file() and not _is_ignored(path, rules):
                    yield path
            except OSError:
                continue


def _rules_of(folder: Path, below: str) -> list[tuple[str, GitIgnoreSpec]]:
    # Not at the top: most folders are in a repository, and need no rules of ours.
    import pathspec

    try:
        text = (folder / below / ".gitignore").read_text(encoding="utf-8", errors="replace")
        return [(below, pathspec.GitIgnoreSpec.from_lines(text.splitlines()))]
    except (OSError, ValueError):
        return []


def _is_ignored(path: str, rules: tuple[tuple[str, GitIgnoreSpec], ...]) -> bool:
    """What the nearest file of rules that has one for ``path`` says about it."""
    for below, spec in reversed(rules):
        verdict = spec.check_file(path[len(below) :]).include
        if verdict is not None:
            return verdict
    return False

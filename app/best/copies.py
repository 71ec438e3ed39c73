"""Copies of the person's files for attempts to work in.

One that nobody touches shows how the files were when the attempts began; the others are made from
it, so that all begin with the same. They hold what git would not ignore, as it is on the disk:
committed or not. Nothing is linked, since attempts write into them.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from gemma_local.app.best import worktree
from gemma_local.app.best.errors import NoAttempts
from gemma_local.app.best.scratch import Scratch, remove_tree
from gemma_local.app.best.worktree import Worktree
from gemma_local.app.workspace.errors import TooLarge
from gemma_local.app.workspace.listing import MOST, list_files

MOST_BYTES: Final = 2_000_000_000
"""Of one copy."""
_KEPT_FREE: Final = 1_000_000_000
"""Bytes that stay free on the disk."""
_SECONDS: Final = 60.0
"""For finding the files."""
_LENT: Final = (".venv", "venv", "node_modules")
"""Folders that git ignores and commands need: copies lead to those of the person, where a sandbox
keeps commands from writing there."""
_PYTHON: Final = ("pyproject.toml", "setup.py", "setup.cfg")

Check: TypeAlias = Callable[[], None]
"""Called again and again while files are copied; what it raises ends that."""
Stamp: TypeAlias = tuple[int, int, int, int, int]
"""Size, times of content and of entry in ns, mode, number: what changes with a file."""


@dataclass(frozen=True, slots=True)
class Copy:
    """``root`` is the folder that is worked in, ``top`` all that was copied. ``stamps`` are of the
    files below ``root`` as they were put there."""

    top: Path
    root: Path
    stamps: Mapping[str, Stamp]
    worktree: Worktree | None = None

    def files(self) -> list[str]:
        """Paths of the files there now that git would not ignore, relative to ``root``.

        Raises OSError.
        """
        if self.worktree is None:
            return list(list_files(self.root, seconds=_SECONDS).paths)
        try:
            return worktree.files_in(self.worktree, self.root)
        except subprocess.SubprocessError as error:
            raise OSError("git could not say which files there are") from error

    def environment(self, base: Mapping[str, str], real: Path) -> dict[str, str]:
        """``base`` for commands that run here instead of in the folder ``real``: search paths that
        lead there lead here, and Python finds the copy before what is installed of the project."""
        moved = dict(base)
        for name in ("PATH", "PYTHONPATH"):
            if name in moved:
                entries = moved[name].split(os.pathsep)
                moved[name] = os.pathsep.join(self._moved(entry, real) for entry in entries)
        if any((self.root / name).exists() for name in _PYTHON):
            own = [self.root / "src"] if (self.root / "src").is_dir() else []
            entries = [*map(str, (*own, self.root)), *filter(None, [moved.get("PYTHONPATH", "")])]
            moved["PYTHONPATH"] = os.pathsep.join(entries)
        # Above a copy there may be a repository that has nothing to do with it.
        return moved | {"GIT_CEILING_DIRECTORIES": str(self.top.parent)}

    def remove(self) -> None:
        """Remove it; git's entry goes with the whole folder."""
        remove_tree(self.top)

    def _moved(self, entry: str, real: Path) -> str:
        if not Path(entry).is_relative_to(real):
            return entry
        here = self.root / Path(entry).relative_to(real)
        return str(here) if here.exists() else entry


class Copies:
    """Makes the copies of one contest."""

    def __init__(
        self, folder: Path, scratch: Scratch, count: int, *, is_confined: bool, check: Check
    ) -> None:
        """Copy the files of ``folder``, from which ``count`` copies will be made.

        ``is_confined``: commands there can write nowhere else. Only then are copies worktrees of
        the person's repository, whose branches are in reach of whoever may write there.

        Raises NoAttempts, and what ``check`` raises.
        """
        self.real = folder.resolve()
        self._scratch = scratch
        self._check = check
        self._is_confined = is_confined
        self._repository = worktree.repository_of(self.real) if is_confined else None
        if self._repository is not None:
            self._paths = _listed(self._repository.top)
            if not any(map(self._is_inner, self._paths)):
                # Git ignores the folder; whoever works there all the same has no repository.
                self._repository = None
        source, self._inner = self.real, Path()
        if self._repository is not None:
            source, self._inner = self._repository.top, self._repository.inner
        else:
            self._paths = _listed(source)
        self._check_room(source, count)
        self.base = self._made("base", source, None)

    def make(self, name: str) -> Copy:
        """One more copy. Raises NoAttempts, and what ``check`` raises."""
        copy = self._made(name, self.base.top, self._worktree(self._scratch.folder / name))
        if self._is_confined:
            self._lend(copy.root)
        return copy

    def _worktree(self, top: Path) -> Worktree | None:
        """An empty worktree; None where there is no repository, or git refuses."""
        if self._repository is None:
            return None
        try:
            self._scratch.belongs_to(self._repository.common)
            return worktree.add(self._repository, top)
        except (OSError, subprocess.SubprocessError):
            remove_tree(top)
            worktree.forget(self._repository.common, top)
            return None

    def _made(self, name: str, source: Path, tree: Worktree | None) -> Copy:
        top = self._scratch.folder / name
        root = top / self._inner
        try:
            root.mkdir(parents=True, exist_ok=True)
            for path in self._paths:
                self._check()
                self._put(path, source, top)
            return Copy(top, root, self._stamps(top), tree)
        except OSError as error:
            raise NoAttempts(f"the files could not be copied for the attempts: {error}") from error

    def _is_inner(self, path: str) -> bool:
        """Whether a file lies where the work is done."""
        return self._repository is None or Path(path).is_relative_to(self._repository.inner)

    def _put(self, path: str, source: Path, top: Path) -> None:
        """Copy one file; one that has gone meanwhile was not there. Raises OSError."""
        old, new = source / path, top / path
        with suppress(FileNotFoundError):
            if old.is_symlink():
                leads_to = old.resolve().relative_to(source.resolve())
                new.parent.mkdir(parents=True, exist_ok=True)
                # An absolute one would lead into the person's files.
                new.symlink_to(os.path.relpath(top / leads_to, new.parent))
            elif stat.S_ISREG(old.lstat().st_mode):
                new.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(old, new, follow_symlinks=False)

    def _stamps(self, top: Path) -> dict[str, Stamp]:
        """Of the files where the work is done. Raises OSError."""
        found = {}
        for path in filter(self._is_inner, self._paths):
            with suppress(FileNotFoundError):
                found[Path(path).relative_to(self._inner).as_posix()] = stamp_of(top / path)
        return found

    def _lend(self, root: Path) -> None:
        for name in _LENT:
            real, here = self.real / name, root / name
            if real.is_dir() and not here.exists():
                here.symlink_to(real.resolve(), target_is_directory=True)

    def _check_room(self, source: Path, count: int) -> None:
        size = 0
        for path in self._paths:
            self._check()
            with suppress(OSError):
                size += (source / path).lstat().st_size
        if size > MOST_BYTES:
            raise NoAttempts(
                f"{source} has {size / 1e9:,.1f} GB of files, and each attempt would copy all of"
                f" them; at most {MOST_BYTES / 1e9:,.0f} GB are copied: let git ignore what is not"
                " needed, or work in a folder further down"
            )
        needed, free = size * (count + 1), shutil.disk_usage(self._scratch.folder).free
        if needed + _KEPT_FREE > free:
            raise NoAttempts(
                f"{count} attempts need {needed / 1e9:,.1f} GB for copies in"
                f" {self._scratch.folder.parent}, and {free / 1e9:,.1f} GB are free there: make"
                " room, or ask for fewer attempts"
            )


def stamp_of(path: Path) -> Stamp:
    """What a file is, links not followed. Raises OSError."""
    found = path.lstat()
    mode, number = stat.S_IMODE(found.st_mode) | stat.S_IFMT(found.st_mode), found.st_ino
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, mode, number


def _listed(folder: Path) -> tuple[str, ...]:
    """Raises NoAttempts."""
    try:
        found = list_files(folder, seconds=_SECONDS)
    except TooLarge as error:
        raise NoAttempts(f"attempts cannot copy {folder}: it holds far more than a project") from (
            error
        )
    if not found.is_whole:
        raise NoAttempts(
            f"{folder} has more than {MOST:,} files, or they take too long to find: let git ignore"
            " what is not needed, or work in a folder further down"
        )
    return found.paths

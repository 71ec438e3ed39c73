"""Worktrees of the person's repository, made and forgotten without touching anything else of it.

Git makes the entry and fills the index; files are copied by us. So no hook, filter or file-system
monitor that the repository names is run, and what is not committed yet comes along. Nothing is
asked of git where an attempt may have put settings of its own: the repository is always named.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gemma_local.app.workspace.git import environment_of_git, git_command

_LISTED: Final = ("--cached", "--others", "--exclude-standard", "--deduplicate")
_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Repository:
    """``top`` is the folder of the person's files, ``common`` git's own, ``inner`` where below
    ``top`` the work is done."""

    top: Path
    common: Path
    inner: Path


@dataclass(frozen=True, slots=True)
class Worktree:
    """``entry`` is git's own folder for it."""

    top: Path
    entry: Path


def repository_of(folder: Path) -> Repository | None:
    """The repository that a folder lies in; None without one, without git, and where nothing was
    committed yet."""
    places = ("--path-format=absolute", "--show-toplevel", "--git-common-dir")
    try:
        said = _git("rev-parse", *places, folder=folder).rstrip(b"\n")
        _git("rev-parse", "--quiet", "--verify", "HEAD^{commit}", folder=folder)
        top, common = (Path(os.fsdecode(line)).resolve() for line in said.split(b"\n"))
        return Repository(top, common, folder.resolve().relative_to(top))
    except (OSError, ValueError, subprocess.SubprocessError):
        # Also in git's own folder, and where it has a line break in its name.
        return None


def add(repository: Repository, top: Path) -> Worktree:
    """A worktree at ``top``, detached at what is committed, with a full index and no files.

    Raises OSError, SubprocessError.
    """
    words = ("worktree", "add", "--quiet", "--detach", "--no-checkout", str(top), "HEAD")
    _git(*words, folder=repository.top)
    entry = (top / ".git").read_text(encoding="utf-8", errors="surrogateescape")
    found = Worktree(top, Path(entry.removeprefix("gitdir:").strip()))
    _git("read-tree", "HEAD", folder=top, worktree=found)
    return found


def files_in(worktree: Worktree, folder: Path) -> list[str]:
    """Paths below ``folder`` of what git does not ignore, relative to it, with "/".

    Raises OSError, SubprocessError.
    """
    said = _git("ls-files", "-z", *_LISTED, folder=folder, worktree=worktree)
    return [os.fsdecode(path) for path in said.split(b"\0") if path]


def forget(repository: Path, folder: Path) -> None:
    """Remove git's entries for worktrees that lay in ``folder``; ``repository`` is its ``common``.

    Not with ``git worktree prune``: that would take away entries of the person's as well, such as
    those on a disk that is not there now.
    """
    with suppress(OSError):
        for entry in (repository / "worktrees").iterdir():
            if _leads_into(entry, folder):
                shutil.rmtree(entry, ignore_errors=True)
        # Git, too, leaves none behind that is empty.
        (repository / "worktrees").rmdir()


def _leads_into(entry: Path, folder: Path) -> bool:
    try:
        written = (entry / "gitdir").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return False
    return Path(written.strip()).is_relative_to(folder)


def _git(*words: str, folder: Path, worktree: Worktree | None = None) -> bytes:
    environ, places = environment_of_git(), [folder]
    if worktree is not None:
        environ |= {"GIT_DIR": str(worktree.entry), "GIT_WORK_TREE": str(worktree.top)}
        places.append(worktree.top)
    command = git_command(words, but_not_in=places)
    if command is None:
        raise FileNotFoundError("git is not installed")
    done = subprocess.run(
        command,
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=_SECONDS,
        check=True,
    )
    return done.stdout

"""What a command may have left behind for git to run when the person uses it next.

A sandbox holds fast what is there, but not every one can keep a name free: Landlock knows folders
only, and nothing can be mounted on a file that does not exist. So what has appeared, or changed
where nothing held it, is looked at once the command has ended, and moved aside if it could have
git run a program.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from gemma_local.app.agent.run.git_files import GitFiles, Spot, leads_to
from gemma_local.app.workspace.git import environment_of_git, git_command

_SECONDS: Final = 10.0
_ENDING: Final = ".set-aside"
_PLAIN: Final = re.compile(
    # What git writes by itself, for a new repository, a clone, a branch or a submodule.
    r"core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|symlinks|ignorecase"
    r"|precomposeunicode|hidedotfiles)|extensions\.(?:objectformat|refstorage)|init\.defaultbranch"
    r"|extensions\.partialclone|user\.(?:name|email)"
    r"|remote\..+\.(?:url|fetch|tagopt|promisor|partialclonefilter|gh-resolved)"
    r"|lfs\.repositoryformatversion|lfs\..+\.access"
    r"|branch\..+\.(?:remote|merge|rebase|description)|submodule\..+\.(?:url|active)"
    r"|submodule\.active|pull\.rebase",
    re.DOTALL,
)
"""Names of settings, in lower case but for their middle part, that name no program."""


class GitGuard:
    """For one command."""

    def __init__(self, before: GitFiles, held: Collection[Path] = ()) -> None:
        """``before`` is what was there before it ran, ``held`` the files and folders of it that
        the sandbox keeps from the command: whoever changes these is somebody else."""
        self._before = before
        self._held = frozenset(held)
        self._known = {(path.name, spot) for path, spot in before.spots.items()}

    def settle(self) -> list[Path]:
        """Move aside what the command must not leave, and put back what was there; the paths that
        were not to be there."""
        before, after = self._before, GitFiles.there(self._before.roots)
        found = []
        for path, spot in after.spots.items():
            was = before.spots.get(path)
            if spot == was or self._is_of_others(path, was, after):
                continue
            if not self._is_plain(path, spot, was) and _set_aside(path):
                found.append(path)
                if was is not None:
                    _put_back(path, was)
        return found

    def _is_of_others(self, path: Path, was: Spot | None, after: GitFiles) -> bool:
        """Whether the command cannot have done it, or nobody can say."""
        if path in self._held or path.parent in self._held:
            return True
        return was is None and not self._before.is_whole and path not in after.own

    def _is_plain(self, path: Path, spot: Spot, was: Spot | None) -> bool:
        """Whether a file has git run nothing that it did not run before."""
        if spot.kind != "file":
            return False
        if path.name == ".git":
            # The folder that it names was looked into as well.
            target = leads_to(path, spot)
            return was is None and (target is None or self._is_inside(target))
        if path.name == "commondir":
            return path.parent.parent.name == "worktrees" and spot.data.strip() == b"../.."
        if (path.name, spot) in self._known:
            # Moved, or copied.
            return True
        if path.name in ("config", "config.worktree") and path.parent.name != "hooks":
            known = self._settings(was.data) if was is not None and was.kind == "file" else []
            new = self._settings(spot.data)
            return new is not None and all(
                each in (known or ()) or self._names_no_program(path, *each) for each in new
            )
        return False

    def _names_no_program(self, path: Path, name: str, value: str) -> bool:
        if name == "core.worktree":
            # Of a submodule it leads back to its files.
            return self._is_inside(Path(os.path.realpath(path.parent / value)))
        return _PLAIN.fullmatch(name) is not None

    def _settings(self, data: bytes) -> list[tuple[str, str]] | None:
        """Names and values, as git understands the file; None if it does not."""
        words = ("config", "--file", "-", "--no-includes", "--null", "--list")
        command = git_command(words, but_not_in=self._before.roots)
        if command is None:
            return None
        try:
            done = subprocess.run(
                command,
                # Where no repository is.
                cwd=Path.cwd().anchor,
                env=environment_of_git(),
                input=data,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=_SECONDS,
                check=True,
            )
        except (OSError, subprocess.SubprocessError):
            return None
        found = []
        for entry in done.stdout.split(b"\0")[:-1]:
            name, _, value = os.fsdecode(entry).partition("\n")
            found.append((name, value))
        return found

    def _is_inside(self, path: Path) -> bool:
        return any(map(path.is_relative_to, self._before.roots))


def told(paths: Sequence[Path], roots: Sequence[Path]) -> str:
    """What was moved aside, in a sentence for the model and the person; "" if nothing was."""
    shown = [
        next((str(path.relative_to(r)) for r in roots if path.is_relative_to(r)), str(path))
        for path in paths
    ]
    if not shown:
        return ""
    more = f" and {len(shown) - 5} more" if len(shown) > 5 else ""
    return (
        f"git could have run a program by {', '.join(shown[:5])}{more}: moved aside, under a name"
        f' that ends in "{_ENDING}"; if the person wants it, they move it back'
    )


def _set_aside(path: Path) -> bool:
    """Whether it could be moved; else it is no longer there, or not to be reached by git either."""
    for number in range(1, 1_000):
        there = path.with_name(f"{path.name}{_ENDING}{f'-{number}' if number > 1 else ''}")
        if not os.path.lexists(there):
            try:
                path.rename(there)
            except OSError:
                return False
            return True
    return False


def _put_back(path: Path, was: Spot) -> None:
    try:
        if was.kind == "link":
            path.symlink_to(os.fsdecode(was.data))
        elif was.kind == "file":
            handle, name = tempfile.mkstemp(prefix=".", dir=path.parent)
            with os.fdopen(handle, "wb") as file:
                file.write(was.data)
            Path(name).chmod(was.mode)
            Path(name).rename(path)
    except OSError:
        # What was moved aside has all of it.
        return

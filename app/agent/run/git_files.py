"""Git's own files in a workspace that can have it run a program: settings, hooks, and what says
where these are.

A person who types ``git status`` runs what they name, outside of any sandbox; also what those of a
repository in the repository name.
"""

from __future__ import annotations

import os
import stat
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from gemma_local.app.agent.run.tables import table
from gemma_local.app.workspace.listing import SKIPPED

_MOST_BYTES: Final = 4_000_000
"""Of a file that is kept in memory."""
_MOST_SPOTS: Final = 2_000
_MOST_FOLDERS: Final = 20_000
_SECONDS: Final = 0.5
"""For repositories that lie in the repository."""
_DEEPEST: Final = 8
"""Folders that the name of a submodule consists of, or submodules in submodules."""
_GITDIR: Final = b"gitdir:"
_BARE: Final = frozenset(("HEAD", "objects", "refs"))
"""With these git takes any folder for a repository."""


@dataclass(frozen=True, slots=True)
class Spot:
    """One such file. ``data`` is what it holds, or where a link leads; of what is neither, or too
    large, how it looks. ``mode`` are its permissions."""

    kind: Literal["file", "link", "other"]
    data: bytes
    mode: int = 0


@dataclass(slots=True)
class GitFiles:
    """``spots`` are all that there are. ``repositories`` are the folders of git's that a root of
    the workspace uses, with those of its submodules, and ``between`` folders on the way to these.
    ``own`` are spots of theirs. ``is_whole`` is false if there was no time to look everywhere for
    repositories in the repository.
    """

    roots: tuple[Path, ...]
    spots: dict[Path, Spot] = field(default_factory=dict)
    own: frozenset[Path] = frozenset()
    repositories: list[Path] = field(default_factory=list)
    between: list[Path] = field(default_factory=list)
    is_whole: bool = True

    @classmethod
    def there(cls, roots: Sequence[Path], *, nested: bool = True) -> GitFiles:
        """Those that there are now in ``roots``, which are absolute and free of links. Without
        ``nested`` repositories in the repository are left out."""
        found = cls(tuple(roots))
        looker = _Looker(found)
        for root in roots:
            looker.entry(root / ".git")
        found.own = frozenset(found.spots)
        found.repositories, found.between = list(looker.repositories), list(looker.between)
        looker.linked_worktrees()
        if nested:
            for path in _nested(roots, found):
                if path.name == ".git":
                    looker.entry(path)
                else:
                    looker.repository(path)
            looker.linked_worktrees()
        return found

    def guarded(self) -> list[Path]:
        """Files and folders that are there and must stay as they are."""
        return [*self._settings(is_there=True), *self._entries()]

    def missing(self) -> list[Path]:
        """Files and folders that could be made, and then would count."""
        return self._settings(is_there=False)

    def pinned(self) -> list[Path]:
        """Folders that hold what is guarded, outer ones first: others in their place would not be
        guarded."""
        return sorted((*self.repositories, *self.between), key=lambda path: len(path.parts))

    def _settings(self, *, is_there: bool) -> list[Path]:
        names: list[str] = table("sandbox")["guarded"]
        return [
            folder / name
            for folder in self.repositories
            for name in names
            if os.path.lexists(folder / name) == is_there
        ]

    def _entries(self) -> list[Path]:
        """Of a worktree or a submodule such a file says where git's own folder is."""
        entries = [root / ".git" for root in self.roots]
        return [one for one in entries if one in self.own and self.spots[one].kind == "file"]


class _Looker:
    """Follows everything that git would follow, as long as it lies in the workspace."""

    def __init__(self, found: GitFiles) -> None:
        self.repositories: dict[Path, None] = {}
        self.between: dict[Path, None] = {}
        self._found = found
        self._waiting: list[Path] = []

    def entry(self, path: Path) -> None:
        """What is called ``.git`` in some folder: git's own folder, or where that is."""
        mode = _mode(path)
        if stat.S_ISDIR(mode):
            self.repository(path)
        elif mode and self._spot(path) is not None:
            target = leads_to(path, self._found.spots[path])
            if target is not None and any(map(target.is_relative_to, self._found.roots)):
                self.repository(target)

    def linked_worktrees(self) -> None:
        """Settings of worktrees. They come and go with these, so that nothing is held fast."""
        while self._waiting:
            for folder in _folders(self._waiting.pop()):
                for name in ("config.worktree", "commondir"):
                    self._spot(folder / name)

    def repository(self, folder: Path, depth: int = 0) -> None:
        """A folder of git's own."""
        if folder in self.repositories or not stat.S_ISDIR(_mode(folder)):
            return
        self.repositories[folder] = None
        for name in table("sandbox")["guarded"]:
            path = folder / name
            if stat.S_ISDIR(_mode(path)):
                for inner in _names(path):
                    # Examples, which come with every repository; git does not run what ends so.
                    if not inner.endswith(".sample"):
                        self._spot(path / inner)
            else:
                self._spot(path)
        for name in ("modules", "worktrees"):
            if stat.S_ISLNK(_mode(folder / name)):
                self._spot(folder / name)
        self._modules(folder / "modules", depth + 1)
        self._waiting.append(folder / "worktrees")

    def _modules(self, folder: Path, depth: int) -> None:
        """Git's folders of submodules, whose names may have slashes."""
        inner = list(_folders(folder)) if depth <= _DEEPEST else []
        if inner:
            self.between[folder] = None
        for one in inner:
            names = set(_names(one))
            if names & {"HEAD", "config", "commondir", "hooks"}:
                self.repository(one, depth)
            else:
                self._modules(one, depth + 1)

    def _spot(self, path: Path) -> Spot | None:
        if len(self._found.spots) < _MOST_SPOTS and (spot := _spot(path)) is not None:
            self._found.spots[path] = spot
            return spot
        return None


def leads_to(path: Path, spot: Spot) -> Path | None:
    """Where a file or link that is called ``.git`` has git look, None if nowhere."""
    if spot.kind == "link":
        return Path(os.path.realpath(path))
    if spot.kind == "file" and spot.data.startswith(_GITDIR):
        text = os.fsdecode(spot.data.removeprefix(_GITDIR).strip())
        if text and "\0" not in text:
            return Path(os.path.realpath(path.parent / text))
    return None


def _nested(roots: Sequence[Path], found: GitFiles) -> Iterator[Path]:
    """Every ``.git`` below the roots but theirs, and every folder that is a repository without one,
    nearest first; not in what is fetched or made."""
    until = time.monotonic() + _SECONDS
    waiting = deque(roots)
    count = 0
    while waiting:
        folder = waiting.popleft()
        count += 1
        if time.monotonic() > until or count > _MOST_FOLDERS:
            found.is_whole = False
            return
        try:
            with os.scandir(folder) as entries:
                inside = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        except OSError:
            continue
        names = {name for name, _ in inside}
        is_bare = names >= _BARE
        if is_bare:
            yield folder
        for name, is_folder in inside:
            if name == ".git" and folder not in roots:
                yield folder / name
            elif is_folder and name not in SKIPPED and not (is_bare and name in _BARE):
                waiting.append(folder / name)


def _spot(path: Path) -> Spot | None:
    try:
        state = path.lstat()
        permissions = stat.S_IMODE(state.st_mode)
        if stat.S_ISLNK(state.st_mode):
            return Spot("link", os.fsencode(path.readlink()))
        if stat.S_ISREG(state.st_mode) and state.st_size <= _MOST_BYTES:
            return Spot("file", path.read_bytes(), permissions)
    except OSError:
        if not os.path.lexists(path):
            return None
        return Spot("other", b"")
    return Spot("other", f"{state.st_mode} {state.st_size} {state.st_mtime_ns}".encode())


def _mode(path: Path) -> int:
    """0 if there is nothing."""
    try:
        return path.lstat().st_mode
    except OSError:
        return 0


def _names(folder: Path) -> list[str]:
    with suppress(OSError):
        return sorted(path.name for path in folder.iterdir())
    return []


def _folders(folder: Path) -> Iterator[Path]:
    """Those in a folder, which is no link itself."""
    if stat.S_ISDIR(_mode(folder)):
        for name in _names(folder):
            if stat.S_ISDIR(_mode(folder / name)):
                yield folder / name

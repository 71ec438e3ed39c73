"""Where the model may read and write, and where a path of its leads."""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Final

from gemma_local.app.agent.tool import ToolProblem
from gemma_local.app.workspace.errors import TooLarge
from gemma_local.app.workspace.listing import check_size, list_files
from gemma_local.app.workspace.sensitive import is_sensitive
from gemma_local.models.errors import GemmaLocalError

_SYSTEM: Final = tuple(Path(path) for path in ("/proc", "/sys", "/dev"))
_DRIVE: Final = re.compile(r"[A-Za-z]:(?:[\\/]|\Z)|\\\\")
_DEVICE: Final = re.compile(r"(?i:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|\Z)")
_PATTERN: Final = re.compile(r"[*?\n]|\A\s|\s\Z")
_SECRET: Final = "may hold secrets"
_GIT: Final = "belongs to git"
_LOOK_SECONDS: Final = 0.5
_SUGGESTED: Final = 3


class UnfitWorkspace(GemmaLocalError):
    """A folder that the model is not let loose in; the sentence says which to choose."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path leads: ``path`` is absolute and free of links, ``shown`` what the person and
    the model call it, ``why`` the reasons to ask before anything there is touched, "" if none.

    ``base`` is the root that it lies in, None outside of all.
    """

    path: Path
    shown: str
    base: Path | None
    why: str = ""

    @property
    def is_inside(self) -> bool:
        return self.base is not None

    def rule(self, kind: str) -> str:
        """The rule that would allow more of the same: ``kind``, a colon, and a pattern for all that
        lies beside it and below, such as "edit: src/**"; in a root it is the file alone. None, "",
        for what may hold secrets or belongs to git, and for names that would be read as patterns.
        """
        if _SECRET in self.why or _GIT in self.why or _PATTERN.search(self.shown):
            return ""
        folder = self.path if self.path.is_dir() else self.path.parent
        if folder == self.base:
            return f"{kind}: {self.shown if folder != self.path else '**'}"
        above = self.shown if folder == self.path else PurePath(self.shown).parent.as_posix()
        return f"{kind}: {above.rstrip('/')}/**"


class Workspace:
    """The folders that the model works in; its relative paths start at the first."""

    def __init__(
        self,
        roots: Sequence[Path],
        *,
        writes_outside: bool = False,
        outputs: Path | None = None,
    ) -> None:
        """``writes_outside``: files elsewhere may be changed too, each after asking. ``outputs`` is
        where what commands wrote is kept, for the model to look at without asking.

        Raises UnfitWorkspace for what is no folder, and for those that hold everything.
        """
        self.roots = tuple(_root(root) for root in roots)
        self._writes_outside = writes_outside
        self._outputs = outputs.resolve() if outputs is not None else None

    @property
    def folder(self) -> Path:
        """The first root."""
        return self.roots[0]

    def reading(self, written: str) -> Place:
        """Where ``written`` leads, for looking at it. There may be nothing. Raises ToolProblem."""
        place = self._place(written)
        if self._outputs is not None and place.path.parent == self._outputs:
            return replace(place, why="")
        return place

    def writing(self, written: str) -> Place:
        """Where ``written`` leads, for changing it. Raises ToolProblem, also for what lies outside
        of the workspace, unless that is allowed."""
        place = self._place(written)
        if not place.is_inside and not self._writes_outside:
            raise ToolProblem(
                f"{place.shown} lies outside the workspace, and nothing there may be changed."
                f" Give a path inside {self.folder}."
            )
        return place

    def shown(self, path: Path) -> str:
        """What a path free of links is called: relative to the first root, if it lies in it."""
        if path.is_relative_to(self.folder):
            return path.relative_to(self.folder).as_posix()
        return str(path)

    def nearest(self, place: Place) -> tuple[str, ...]:
        """Files that may have been meant where there is none, likeliest first."""
        try:
            known = list_files(self.folder, seconds=_LOOK_SECONDS).paths
        except (TooLarge, OSError):
            return ()
        name = place.path.name
        same = [path for path in known if PurePath(path).name.lower() == name.lower()]
        if same:
            close = sorted(same, key=lambda path: -_likeness(path, place.shown))
        else:
            names = {PurePath(path).name for path in known}
            alike = difflib.get_close_matches(name, sorted(names), _SUGGESTED, 0.7)
            close = [path for other in alike for path in known if PurePath(path).name == other]
        return tuple(close[:_SUGGESTED])

    def _place(self, written: str) -> Place:
        try:
            return self._looked_up(_plain(written, self.folder))
        except (OSError, ValueError, RuntimeError) as error:
            # Too long, circular links, a NUL, the home of a person whom nobody knows.
            reason = error.strerror if isinstance(error, OSError) else ""
            shown = written[:200].replace("\0", "\\0")
            raise ToolProblem(
                f'"{shown}" is no usable path{f" ({reason.lower()})" if reason else ""}.'
                " Give one relative to the workspace, such as src/app.py."
            ) from error

    def _looked_up(self, path: Path) -> Place:
        full = self.folder / path
        found = full.resolve()
        for one in (Path(os.path.normpath(full)), found):
            if any(one.is_relative_to(system) for system in _SYSTEM):
                raise ToolProblem(f"{one} belongs to the system and is no file to work with.")
        if os.name == "nt" and any(_is_odd_on_windows(part) for part in found.parts[1:]):
            raise ToolProblem(f"{path} names a device or a stream, not a file.")
        with suppress(FileNotFoundError, NotADirectoryError):
            # What could never be there is better said now.
            found.lstat()
        base = next((root for root in self.roots if found.is_relative_to(root)), None)
        shown = self.shown(found)
        return Place(found, shown, base, _why(full, found, base))


def _root(folder: Path) -> Path:
    try:
        root = folder.expanduser().resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise UnfitWorkspace(f"{folder} cannot be worked in: there is no such folder") from error
    if not root.is_dir():
        raise UnfitWorkspace(f"{folder} cannot be worked in: it is no folder")
    try:
        check_size(root)
    except TooLarge as error:
        raise UnfitWorkspace(
            f"{root} holds far more than one project: start in the project's own folder"
        ) from error
    return root


def _plain(written: str, folder: Path) -> Path:
    """The path that was meant. Raises ToolProblem."""
    text = written.strip().strip("\"'`")
    if not text:
        raise ToolProblem('"path" is empty. Give one relative to the workspace, or "." for it.')
    text = text.removeprefix("file://")
    if text.startswith("@") and not (folder / text).exists():
        # As a person mentions a file to the model.
        text = text[1:] or "."
    if sys.platform != "win32" and "\\" in text and not (folder / text).exists():
        if _DRIVE.match(text):
            raise ToolProblem(
                f"{text} is a path of Windows, and this is another system."
                " Give one relative to the workspace, such as src/app.py."
            )
        text = text.replace("\\", "/")
    return Path(text).expanduser()


def _why(asked: Path, found: Path, base: Path | None) -> str:
    inner = found.relative_to(base) if base is not None else found
    reasons = []
    if base is None:
        reasons.append("outside the workspace")
    # By either name: a harmless one may be a link to a secret, and a secret's name to anything.
    if is_sensitive(inner) or (found != base and is_sensitive(PurePath(asked.name))):
        reasons.append(_SECRET)
    if ".git" in (part.lower() for part in inner.parts):
        reasons.append(_GIT)
    return ", ".join(reasons)


def _is_odd_on_windows(part: str) -> bool:
    return ":" in part or bool(_DEVICE.match(part))


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()

"""Which files of the workspace a command has changed.

By size and time of change, not by asking git: a repository's own settings can name programs that
git runs then. Files that git ignores are not looked at.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gemma_local.app.workspace.errors import TooLarge
from gemma_local.app.workspace.listing import list_files

_MOST: Final = 20_000
_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Changes:
    """Paths as the model writes them."""

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()

    def words(self, most: int = 10) -> str:
        """Such as "changed: a.py, b.py; new: c.py", "" if nothing has changed."""
        parts = []
        for what, paths in (
            ("changed", self.changed),
            ("new", self.new),
            ("deleted", self.deleted),
        ):
            if paths:
                more = f" and {len(paths) - most} more" if len(paths) > most else ""
                parts.append(f"{what}: {', '.join(paths[:most])}{more}")
        return "; ".join(parts)


class Snapshot:
    """The files of some folders at one moment."""

    def __init__(self, folders: Sequence[Path]) -> None:
        """Takes up to a second for each folder."""
        self._files: dict[str, tuple[int, int, int]] | None = {}
        for index, folder in enumerate(folders):
            try:
                listing = list_files(folder, most=_MOST, seconds=_SECONDS)
            except (TooLarge, OSError):
                self._files = None
                return
            if not listing.is_whole:
                self._files = None
                return
            for path in listing.paths:
                try:
                    found = os.lstat(folder / path)
                except OSError:
                    continue
                shown = path if not index else str(folder / path)
                self._files[shown] = (found.st_mtime_ns, found.st_size, found.st_ino)

    def until(self, later: Snapshot) -> Changes | None:
        """What is different later; None if there are too many files to know."""
        before, after = self._files, later._files
        if before is None or after is None:
            return None
        return Changes(
            tuple(sorted(after.keys() - before.keys())),
            tuple(sorted(path for path in after if path in before and after[path] != before[path])),
            tuple(sorted(before.keys() - after.keys())),
        )

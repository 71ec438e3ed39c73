"""What the model has seen of files, so that it changes none that it does not know as it is now."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from pathlib import Path

from gemma_local.app.agent.tool import ToolProblem


@dataclass(slots=True)
class _Sight:
    """A file with the content ``digest``; ``parts`` are the lines that were shown, as (first,
    last) counted from 1, of ``count``."""

    digest: str
    count: int
    parts: list[tuple[int, int]] = field(default_factory=list)

    @property
    def missing(self) -> tuple[int, int] | None:
        """The first lines that were not shown."""
        next_line = 1
        for first, last in sorted(self.parts):
            if first > next_line:
                return next_line, first - 1
            next_line = max(next_line, last + 1)
        return (next_line, self.count) if next_line <= self.count else None


class Seen:
    """Which content of which file the model has read in this conversation.

    May be used from several threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sights: dict[Path, _Sight] = {}
        self._file_locks: dict[Path, threading.RLock] = {}

    def saw(self, path: Path, digest: str, first: int, last: int, count: int) -> None:
        """Lines ``first`` to ``last`` of ``count`` were shown, of the content ``digest``."""
        with self._lock:
            sight = self._sights.get(path)
            if sight is None or sight.digest != digest:
                sight = self._sights[path] = _Sight(digest, count)
            sight.parts.append((first, last))

    def changed(self, path: Path, digest: str, count: int, *, is_known: bool) -> None:
        """The model has changed the file itself: what it knew of it, it still knows.

        ``is_known``: it gave all of the content.
        """
        with self._lock:
            sight = self._sights.get(path)
            knew_all = sight is not None and sight.missing is None
            parts = [(1, count)] if is_known or knew_all else []
            self._sights[path] = _Sight(digest, count, parts)

    def moved(self, old: Path, new: Path) -> Seen:
        """The same for a copy of the folder ``old`` that lies in ``new``."""
        found = Seen()
        with self._lock:
            for path, sight in self._sights.items():
                if path.is_relative_to(old):
                    here = new / path.relative_to(old)
                    found._sights[here] = replace(sight, parts=list(sight.parts))
        return found

    def forget(self) -> None:
        """The conversation no longer holds what was read."""
        with self._lock:
            self._sights.clear()

    def check(self, path: Path, shown: str, digest: str, *, whole: bool = False) -> None:
        """Raises ToolProblem unless the model has seen this content, or all of it if ``whole``."""
        with self._lock:
            sight = self._sights.get(path)
            missing = None if sight is None else sight.missing
        if sight is None:
            raise ToolProblem(f"{shown} has not been read. Read it first, then change it.")
        if sight.digest != digest:
            raise ToolProblem(
                f"{shown} has changed since it was read. Read it again, then change it."
            )
        if whole and missing is not None:
            first, last = missing
            raise ToolProblem(
                f"Lines {first}-{last} of {shown} have not been read and would be lost."
                f" Read them first, or use edit."
            )

    def lock(self, path: Path) -> threading.RLock:
        """What a thread holds while it changes the file."""
        with self._lock:
            return self._file_locks.setdefault(path, threading.RLock())

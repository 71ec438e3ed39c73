"""How far a download is: counted by its threads, told to whoever watches."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

WINDOW: Final = 8.0
"""Seconds over which speed is averaged: steady enough to read, quick to show a stall."""


@dataclass(frozen=True, slots=True)
class FileProgress:
    """One file. ``stage`` is ``waiting``, ``checking`` (what is there is hashed), ``fetching`` or
    ``done``."""

    file: str
    done: int
    bytes: int
    stage: str


@dataclass(frozen=True, slots=True)
class Progress:
    """All files of a download. Sizes in bytes."""

    files: tuple[FileProgress, ...]
    done: int
    bytes: int
    bytes_per_second: float
    """Of what comes over the network; 0 while nothing does."""
    seconds_left: float | None
    """None while that cannot be told."""


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that happened, for a person to read."""

    text: str


Event = Progress | Remark
OnEvent = Callable[[Event], None]


class Meter:
    """Counts for the threads of one download."""

    def __init__(
        self, files: list[tuple[str, int]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """``files`` are names and sizes in bytes."""
        self._lock = threading.Lock()
        self._clock = clock
        self._files = files
        self._done = [0] * len(files)
        self._stages = ["waiting"] * len(files)
        self._fetched = 0
        self._history: deque[tuple[float, int]] = deque([(clock(), 0)])
        self._remarks: deque[str] = deque()

    def stage(self, index: int, stage: str, done: int | None = None) -> None:
        """A file is now at this stage, and ``done`` bytes of it are there."""
        with self._lock:
            self._stages[index] = stage
            if done is not None:
                self._done[index] = done

    def fetched(self, index: int, count: int) -> None:
        """More bytes of a file came over the network."""
        with self._lock:
            self._done[index] += count
            self._fetched += count

    def checked(self, index: int, count: int) -> None:
        """More bytes of a file were there already."""
        with self._lock:
            self._done[index] += count

    def remark(self, text: str) -> None:
        """Something that a person should read."""
        with self._lock:
            self._remarks.append(text)

    def remarks(self) -> list[Remark]:
        """What was remarked since the last call."""
        with self._lock:
            found = [Remark(text) for text in self._remarks]
            self._remarks.clear()
            return found

    def read(self) -> Progress:
        """Where everything stands now. Reading is what moves the window of the speed."""
        with self._lock:
            now = self._clock()
            self._history.append((now, self._fetched))
            while len(self._history) > 2 and self._history[1][0] <= now - WINDOW:
                self._history.popleft()
            since, count = self._history[0]
            speed = (self._fetched - count) / (now - since) if now > since else 0.0
            done, total = sum(self._done), sum(size for _, size in self._files)
            return Progress(
                files=tuple(
                    FileProgress(name, self._done[i], size, self._stages[i])
                    for i, (name, size) in enumerate(self._files)
                ),
                done=done,
                bytes=total,
                bytes_per_second=speed,
                seconds_left=(total - done) / speed if speed > 0 else None,
            )

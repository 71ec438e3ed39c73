"""The processes that a command has started, whatever they have done to be forgotten."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import psutil

_MARK: Final = "GEMMA_LOCAL_COMMAND"
"""A variable that all processes of one command inherit, and no other has."""
_ROUNDS: Final = 10


class Family:
    """A process and its descendants.

    They are found in three ways: by their group, which a process can leave; by their parents,
    which can end; and by a mark in their environment, which they could only take off by design.
    """

    def __init__(self, *, is_marked: bool) -> None:
        """``is_marked``: also look for the mark, which takes some milliseconds."""
        self._mark = uuid.uuid4().hex if is_marked else ""
        self._process: subprocess.Popen[bytes] | None = None
        self._children: list[psutil.Process] = []

    @property
    def environment(self) -> dict[str, str]:
        """What the first process must have in its environment."""
        return {_MARK: self._mark} if self._mark else {}

    def begin(self, process: subprocess.Popen[bytes]) -> None:
        """``process`` is the first; on POSIX it leads a group of its own."""
        self._process = process

    def is_over(self) -> bool:
        """Whether the first process has ended. It is not let go, so that its number, which is that
        of the group, is nobody else's yet."""
        assert self._process is not None
        if self._process.returncode is not None:
            return True
        if sys.platform == "win32" or not hasattr(os, "waitid"):
            return self._process.poll() is not None
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        try:
            return os.waitid(os.P_PID, self._process.pid, how) is not None
        except ChildProcessError:
            return True

    def remember(self) -> None:
        """Look which descendants there are: those that leave the group and lose their parent could
        not be found afterwards."""
        assert self._process is not None
        with suppress(psutil.Error):
            found = psutil.Process(self._process.pid).children(recursive=True)
            self._children += [child for child in found if child not in self._children]

    def end(self, grace: float) -> int:
        """End all: politely, after ``grace`` seconds by force. Returns the first one's status,
        negative for a signal."""
        process = self._process
        assert process is not None
        self.remember()
        self._children += [stray for stray in self._strays() if stray not in self._children]
        self._signal(signal.SIGTERM)
        until = time.monotonic() + grace
        while not self._is_all_over() and time.monotonic() < until:
            time.sleep(0.02)
        self._kill()
        with suppress(subprocess.TimeoutExpired):
            process.wait(grace)
        # It hangs in the kernel if even that has not ended it.
        return -int(_KILL) if process.returncode is None else process.returncode

    def _is_all_over(self) -> bool:
        return self.is_over() and not any(map(_runs, self._children))

    def _kill(self) -> None:
        """Again until there is none left: one that forks all the time is faster than one look."""
        self._signal(_KILL)
        for _ in range(_ROUNDS):
            self._children = list(self._strays())
            if not self._children:
                return
            self._signal(_KILL)
            time.sleep(0.02)

    def _signal(self, number: signal.Signals) -> None:
        process = self._process
        assert process is not None
        if sys.platform != "win32":
            # Also after the first one has ended: the group lives as long as one of it does.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, number)
        elif process.poll() is None:
            process.terminate()
        for child in self._children:
            with suppress(psutil.Error):
                child.send_signal(number)

    def _strays(self) -> Iterator[psutil.Process]:
        """Those with the mark that run."""
        if not self._mark:
            return
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                if process.environ().get(_MARK) == self._mark and _runs(process):
                    yield process


def _runs(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


_KILL: Final = signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM

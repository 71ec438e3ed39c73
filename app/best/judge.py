"""Whether what an attempt has made is good: the command that the person named says so."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gemma_local.app.agent.budget import tidied
from gemma_local.app.agent.run.confinement import NOT_SET_UP, REFUSED
from gemma_local.app.agent.run.environment import without_secrets
from gemma_local.app.agent.run.judgement import judged
from gemma_local.app.agent.run.sandbox import Sandbox
from gemma_local.app.agent.run.shell import shell_here
from gemma_local.app.agent.run.surroundings import Surroundings
from gemma_local.app.best.errors import Ended
from gemma_local.app.stop import Stop
from gemma_local.app.workspace.command import Command

SECONDS: Final = 600.0
"""A judging command that takes longer has not passed."""
_KEPT: Final = 200_000
"""Characters of its output."""
_LAST: Final = 12
"""Lines of it that are shown."""
_MOMENT: Final = 0.1


@dataclass(frozen=True, slots=True)
class Judged:
    """``how`` is how the command ended, in a few words, ``last`` the last lines of its output."""

    passes: bool
    how: str
    last: str
    seconds: float


class Judge:
    """Runs the command in one copy at a time: tests may need the whole machine, or the same port.

    May be used from several threads.
    """

    def __init__(
        self, command: str, *, seconds: float = SECONDS, has_network: bool = False
    ) -> None:
        self.command = command
        self._seconds = seconds
        self._has_network = has_network
        self._lock = threading.Lock()
        self._shell = shell_here()

    def rule(self, root: Path) -> str:
        """The rule that allows an attempt to run the command itself, "" if there is none that
        would not allow far more."""
        surroundings = Surroundings((root,), root, root, is_confined=True)
        judgement = judged(self.command, surroundings, is_posix=self._shell.is_posix)
        return "" if judgement.why else judgement.rule

    def judge(self, root: Path, environment: Mapping[str, str], stop: Stop) -> Judged:
        """Run it in ``root``, where it may change what it likes and nothing elsewhere.

        Raises Ended if ``stop`` was asked for.
        """
        while not self._lock.acquire(timeout=_MOMENT):
            if stop.is_asked:
                raise Ended
        try:
            return self._judged(root, environment, stop)
        finally:
            self._lock.release()

    def _judged(self, root: Path, environment: Mapping[str, str], stop: Stop) -> Judged:
        with closing(Sandbox([root], has_network=self._has_network)) as sandbox:
            words = self._shell.command(self.command, sandbox.temporary / "folder")
            if not isinstance(words, str):
                words = sandbox.wrapped(words, root)
            command = Command(
                words,
                root,
                timeout=self._seconds,
                environment=sandbox.environment(without_secrets(environment)),
                most=_KEPT,
                is_foreign=True,
            )
            start = time.monotonic()
            try:
                ended = command.run(stop)
            except OSError as error:
                how = f"could not be started: {(error.strerror or str(error)).lower()}"
                return Judged(False, how, "", time.monotonic() - start)
        if ended.stopped:
            raise Ended
        if ended.status == NOT_SET_UP and ended.output.startswith(REFUSED):
            why = ended.output.removeprefix(REFUSED).strip()
            return Judged(False, "was not run: no sandbox", why, ended.seconds)
        how = f"exit status {ended.status}"
        if ended.timed_out:
            how = f"not finished after {self._seconds:.0f} s"
        # Where the copy lies is nobody's business, and not where the person's file is.
        lines = tidied(ended.output.replace(f"{root}{os.sep}", "")).strip().split("\n")
        passes = ended.status == 0 and not ended.timed_out
        return Judged(passes, how, "\n".join(lines[-_LAST:]), ended.seconds)

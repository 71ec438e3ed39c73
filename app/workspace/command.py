"""A command of the shell: nothing at its standard input, and ended with all its children."""

from __future__ import annotations

import codecs
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gemma_local.app.stop import Stop
from gemma_local.app.workspace.output import MOST, Output
from gemma_local.app.workspace.pipe import Pipe, opened
from gemma_local.app.workspace.processes import Family

GRACE: Final = 1.0
"""Seconds between asking processes to end and ending them."""
LINGER: Final = 0.3
"""Seconds that output is waited for when the command itself has ended: a child that it left behind
may hold the pipe for ever."""
LOOK_EVERY: Final = 0.5
"""Seconds between two looks at which processes the command has started."""
if sys.platform == "win32":
    _FLAGS = subprocess.CREATE_NO_WINDOW
else:
    _FLAGS = 0
_MOMENT: Final = 0.1
"""Seconds after which a stop is noticed."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How it ended. ``status`` is the exit status, negative for a signal; ``output`` all that it
    wrote to standard output and standard error, in order, or the beginning and the end of it.
    ``length`` is how many characters it wrote."""

    status: int
    output: str
    seconds: float
    timed_out: bool = False
    stopped: bool = False
    length: int = 0


class Command:
    """One command, in a session and process group of its own."""

    def __init__(
        self,
        command: str | Sequence[str],
        folder: Path,
        *,
        timeout: float | None = None,
        environment: Mapping[str, str] | None = None,
        on_output: Callable[[str], None] | None = None,
        most: int = MOST,
        save: Path | None = None,
        is_foreign: bool | None = None,
    ) -> None:
        """``command`` as a string is for the shell. ``timeout`` is in seconds; ``on_output`` hears
        text as it comes, in the thread of ``run``. ``most`` is how many characters of it are kept,
        ``save`` a file for all of it. ``is_foreign``: it may leave processes behind that hide;
        those of the shell may, unless said otherwise."""
        self._command = command
        self._folder = folder
        self._timeout = timeout
        self._environment = environment
        self._on_output = on_output
        self._most = most
        self._save = save
        is_foreign = isinstance(command, str) if is_foreign is None else is_foreign
        self._family = Family(is_marked=is_foreign)

    def run(self, stop: Stop | None = None) -> Ended:
        """Run it to its end, the timeout or ``stop``, whichever comes first; afterwards nothing of
        it runs any more. Raises OSError if it cannot be started, or the file not be written."""
        stop = Stop() if stop is None else stop
        start = time.monotonic()
        output = Output(self._most, self._save)
        try:
            process = self._start()
            assert process.stdout is not None
            pipe = opened(process.stdout)
            self._family.begin(process)
            ended_by = threading.Event()
            try:
                with stop.calling(ended_by.set):
                    timed_out = self._follow(pipe, output, start, ended_by)
                is_over = self._family.is_over()
            finally:
                # Also when whoever hears the output fails: nothing may run on.
                status = self._family.end(GRACE)
                pipe.close()
        finally:
            output.close()
        return Ended(
            status,
            output.text,
            time.monotonic() - start,
            timed_out=timed_out,
            stopped=stop.is_asked and not is_over,
            length=output.length,
        )

    def _start(self) -> subprocess.Popen[bytes]:
        environment = dict(os.environ if self._environment is None else self._environment)
        # Nobody can answer a question, page through a manual or watch a bar.
        environment |= {"TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "NO_COLOR": "1"}
        environment |= {"GIT_TERMINAL_PROMPT": "0", "PYTHONUNBUFFERED": "1"}
        environment |= self._family.environment
        return subprocess.Popen(
            self._command,
            shell=isinstance(self._command, str),
            cwd=self._folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,
            creationflags=_FLAGS,
        )

    def _follow(self, pipe: Pipe, output: Output, start: float, ended_by: threading.Event) -> bool:
        """Hand the output on until the command ends or has to; True if its time was up."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        over_at: float | None = None
        looked_at = 0.0
        while True:
            now = time.monotonic()
            if over_at is None and self._family.is_over():
                over_at = now
            if ended_by.is_set() or (over_at is not None and now - over_at > LINGER):
                return False
            if over_at is None and self._timeout is not None and now - start > self._timeout:
                return True
            if now - looked_at > LOOK_EVERY:
                looked_at = now
                self._family.remember()
            if (data := pipe.read(_MOMENT)) is None:
                continue
            if text := decoder.decode(data, final=not data):
                output.add(text)
                if self._on_output is not None:
                    self._on_output(text)
            if not data:
                if over_at is not None:
                    return False
                # It closed its output and goes on, or is about to end: only its end is waited for.
                ended_by.wait(0.02)

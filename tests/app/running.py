"""gemma-local as real processes: with pipes, with signals, on a terminal of its own."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tests.app import forking
from tests.ggufs import script
from tests.waiting import PATIENCE, until

# One thread: many would fight over the machine's CPUs.
FAST = ("--threads", "1")

STORY = script(["Once", *(f" word{i}" for i in range(50)), "."])
"""What the pair of the fixture ``story`` says."""


@dataclass(frozen=True)
class Command:
    """Starts ``gemma-local`` with its folders under ``home``."""

    home: Path

    def environment(self, **more: str) -> dict[str, str]:
        names = ("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
        environment = {**os.environ, **{name: str(self.home / name) for name in names}}
        environment.pop("GEMMA_LOCAL_MODEL", None)
        return {**environment, "HOME": str(self.home), **more}

    def words(self, *arguments: object) -> list[str]:
        return [sys.executable, "-m", "gemma_local.app.cli", *map(str, arguments)]

    def run(
        self, *arguments: object, stdin: str | bytes = b"", **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run to the end."""
        given = stdin.encode() if isinstance(stdin, str) else stdin
        environment = self.environment(**variables)
        if forking.is_possible() and forking.app_server().suits(environment):
            done = forking.run([*map(str, arguments)], environment, given, PATIENCE)
        else:
            done = subprocess.run(
                self.words(*arguments),
                input=given,
                capture_output=True,
                env=environment,
                timeout=PATIENCE,
                check=False,
            )
        out, err = done.stdout.decode(), done.stderr.decode()
        return subprocess.CompletedProcess(done.args, done.returncode, out, err)

    def json(self, *arguments: object, **more: str) -> dict[str, Any]:
        """Run with ``--output json``; what it printed."""
        done = self.run(*arguments, "--output", "json", **more)
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout))

    @contextmanager
    def start(self, *arguments: object) -> Iterator[subprocess.Popen[str]]:
        """A process to watch and to disturb."""
        process = subprocess.Popen(
            self.words(*arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment(),
            text=True,
            # Whoever runs the tests in the background has Ctrl-C ignored, and we would inherit it.
            preexec_fn=hear_interrupts,
        )
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    def terminal(self, *arguments: object) -> Terminal:
        """The same on a terminal."""
        return Terminal(self.words(*arguments), self.environment(TERM="xterm", COLUMNS="80"))


def rest_of(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What comes until the process ends, on its output and its error output.

    Not ``communicate``: that loses what is in the buffer of an output that was read from before.
    """
    assert process.stdout is not None
    assert process.stderr is not None
    out, err = process.stdout.read(), process.stderr.read()
    process.wait(timeout=PATIENCE)
    return out, err


def hear_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Terminal:
    """A process that believes it talks to a person."""

    def __init__(self, words: list[str], environment: dict[str, str]) -> None:
        # Not at the top: Windows has no pty, and collects these tests too.
        import pty

        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            words,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            close_fds=True,
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
        os.close(slave)
        self.screen = ""
        self._seen = 0

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def line(self, text: str) -> None:
        self.type(text + "\n")

    def wait_for(self, pattern: str, seconds: float = PATIENCE) -> str:
        """Read until ``pattern`` appears after what was waited for before; what was read."""
        deadline = time.monotonic() + seconds
        while not (match := re.search(pattern, self.screen[self._seen :])):
            if not self._read(deadline - time.monotonic()):
                raise AssertionError(f"no {pattern!r} in {self.screen[self._seen :]!r}")
        read = self.screen[self._seen : self._seen + match.end()]
        self._seen += match.end()
        return read

    def end(self, seconds: float = PATIENCE) -> int:
        """Wait for the end of the process; its exit status."""
        deadline = time.monotonic() + seconds
        while self._read(deadline - time.monotonic()):
            pass
        return self.process.wait(timeout=max(0.1, deadline - time.monotonic()))

    def wait_until_resting(self, still: float = 1.0, seconds: float = PATIENCE) -> None:
        """Wait until neither the process nor those that it started have computed for a while."""
        deadline = time.monotonic() + seconds
        spent, since = -1.0, time.monotonic()
        while time.monotonic() - since < still:
            assert time.monotonic() < deadline, "it never comes to rest"
            self._read(0.05)
            now = _computed(self.process.pid)
            if now > spent + 0.05 or _wants_to_compute(self.process.pid):
                spent, since = now, time.monotonic()

    def _read(self, seconds: float) -> bool:
        if seconds <= 0 or not select.select([self._master], [], [], seconds)[0]:
            return False
        try:
            chunk = os.read(self._master, 65536)
        except OSError:
            return False
        self.screen += chunk.decode(errors="replace")
        return bool(chunk)


def _computed(pid: int) -> float:
    """CPU seconds of a process and its children so far."""
    process = psutil.Process(pid)
    times = [p.cpu_times() for p in (process, *process.children(recursive=True))]
    return sum(t.user + t.system for t in times)


def _wants_to_compute(pid: int) -> bool:
    """Whether a thread of a process or its children runs, or would if there were a CPU for it."""
    process = psutil.Process(pid)
    for each in (process, *process.children(recursive=True)):
        for thread in Path(f"/proc/{each.pid}/task").glob("*/stat"):
            with suppress(OSError):
                if thread.read_text().rpartition(")")[2].split()[0] in "RD":
                    return True
    return False


def _take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    hear_interrupts()


def child_of(pid: int) -> int | None:
    """The process id of a child of ``pid``, None while there is none (Linux)."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return None
    return int(children[0]) if children else None


def wait_gone(*pids: int) -> None:
    """Wait until none of these processes runs."""
    try:
        until(lambda: not any(map(is_running, pids)))
    except AssertionError:
        left = filter(is_running, pids)
        raise AssertionError("\n".join(["still there:", *map(_doings, left)])) from None


def _doings(pid: int) -> str:
    """What a process is and what its threads wait for (Linux)."""
    place = Path(f"/proc/{pid}")
    lines = [f"{pid}: {(place / 'cmdline').read_text().replace(chr(0), ' ')}"]
    for thread in sorted((place / "task").iterdir()):
        with suppress(OSError):
            state = (thread / "stat").read_text().rpartition(")")[2].split()[0]
            name, waits = (thread / "comm").read_text().strip(), (thread / "wchan").read_text()
            lines.append(f"  {name}: {state} {waits}")
    return "\n".join(lines)


def is_running(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"

"""The app as a process of its own, on a terminal that only reads: what people run, and its costs.

Processor time is that of the app's process with all its threads, and without the engine's process.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).parents[2]
SIZE: Final = (120, 40)
FRAME_END: Final = b"\x1b\\[\\?2026l"
"""What Textual writes at the end of an update of the screen, where the terminal knows it."""
_BLINK: Final = 0.01
"""Seconds of processor time that a tenth of a second may take while nothing happens."""
_ASKS_FOR_FRAMES: Final = b"\x1b[?2026$p"
_KNOWS_FRAMES: Final = b"\x1b[?2026;2$y"


def cpu_seconds(pid: int) -> float:
    """Processor time that a process has had (Linux: the clock of another process)."""
    return time.clock_gettime(~pid << 3 | 2)


class AppTerminal:
    """``gemma-local`` on a terminal, with its folders under ``home``."""

    def __init__(
        self,
        home: Path,
        *arguments: object,
        rate: float | None = None,
        size: tuple[int, int] = SIZE,
        is_downloading: bool = False,
        collections: Path | None = None,
    ) -> None:
        """``rate``: tokens a second of an engine that only pretends; None for a real one.
        ``collections``: where looks for garbage are noted."""
        module = ["gemma_local.app.cli"]
        if rate is not None or is_downloading or collections is not None:
            module = ["tests.bench.app_child", "--rate", str(rate or 0)]
            module += ["--downloading"] if is_downloading else []
            module += ["--collections", str(collections)] if collections is not None else []
            module += ["--"]
        work = home / "work"
        work.mkdir(parents=True, exist_ok=True)
        self._master, slave = pty.openpty()
        self._set_size(size)
        self.process = subprocess.Popen(
            [sys.executable, "-m", *module, *map(str, arguments)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=work,
            env=environment(home),
            close_fds=True,
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
        os.close(slave)
        # Only what was not waited for yet: the terminal must cost the same after an hour.
        self._output = bytearray()
        self._came = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> AppTerminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        os.close(self._master)

    @property
    def cpu(self) -> float:
        """Seconds of processor time so far."""
        return cpu_seconds(self.process.pid)

    @property
    def waited(self) -> float:
        """Seconds for which the thread that draws was ready to run and other processes ran."""
        _, waited, _ = Path(f"/proc/{self.process.pid}/schedstat").read_text().split()
        return int(waited) / 1e9

    def type(self, text: str) -> None:
        """Keys, or what a terminal sends in place of them."""
        os.write(self._master, text.encode())

    def resize(self, size: tuple[int, int]) -> None:
        """Another size of the terminal."""
        self._set_size(size)
        os.kill(self.process.pid, signal.SIGWINCH)

    def skip(self) -> None:
        """Forget what was written up to now."""
        with self._came:
            self._output.clear()

    def wait_for(self, pattern: str | bytes, seconds: float = 60.0) -> None:
        """Wait until ``pattern`` is written after what was waited for before."""
        sought = pattern.encode() if isinstance(pattern, str) else pattern
        end = time.monotonic() + seconds
        with self._came:
            while (place := _end_of(sought, self._output)) is None:
                left = end - time.monotonic()
                if left <= 0 or not self._came.wait(left):
                    raise AssertionError(f"no {sought!r} in {bytes(self._output[-3000:])!r}")
            del self._output[:place]

    def settle(self, seconds: float = 60.0) -> float:
        """Wait until the app does nothing but let its cursor blink; its processor time when that
        began."""
        end = time.monotonic() + seconds
        before = settled = self.cpu
        quiet = 0
        while quiet < 5:
            if time.monotonic() > end:
                raise AssertionError("the app does not come to rest")
            time.sleep(0.1)
            now = self.cpu
            if now - before > _BLINK:
                settled, quiet = now, 0
            else:
                quiet += 1
            before = now
        return settled

    def share(self, seconds: float) -> float:
        """Part of a core that the app takes over so many seconds."""
        start, cpu = time.monotonic(), self.cpu
        time.sleep(seconds)
        return (self.cpu - cpu) / (time.monotonic() - start)

    def _set_size(self, size: tuple[int, int]) -> None:
        columns, rows = size
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _read(self) -> None:
        while True:
            try:
                chunk = os.read(self._master, 1 << 16)
            except OSError:
                return
            if _ASKS_FOR_FRAMES in chunk:
                os.write(self._master, _KNOWS_FRAMES)
            with self._came:
                self._output += chunk
                self._came.notify_all()


def environment(home: Path) -> dict[str, str]:
    """The environment of a process whose folders are under ``home``."""
    names = ("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
    variables = {**os.environ, **{name: str(home / name) for name in names}}
    for name in ("GEMMA_LOCAL_MODEL", "SSH_CONNECTION", "COLUMNS", "LINES", "NO_COLOR"):
        variables.pop(name, None)
    return {
        **variables,
        "HOME": str(home),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "PYTHONPATH": str(REPOSITORY),
    }


def _end_of(sought: bytes, output: bytearray) -> int | None:
    # A match holds on to the buffer, which could not grow then: only its end is kept.
    match = re.search(sought, output, re.DOTALL)
    return match.end() if match else None


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)

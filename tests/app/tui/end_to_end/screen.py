"""A program on a terminal of its own, with somebody who types and looks."""

from __future__ import annotations

import os
import signal
import termios
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pexpect
import psutil

from tests.app.running import hear_interrupts
from tests.app.tui.end_to_end.emulator import Emulator
from tests.waiting import PATIENCE

ENTER: Final = "\r"
ESCAPE: Final = "\x1b"
CTRL_C, CTRL_D, CTRL_G, CTRL_T, CTRL_U, CTRL_Z = (chr(ord(key) - 64) for key in "CDGTUZ")


AT_ONCE: Final = 16
"""Pieces of output after which it is time to look at the screen."""


class Screen:
    """What runs, and how its terminal looks."""

    def __init__(
        self,
        words: Sequence[str],
        environment: dict[str, str],
        *,
        size: tuple[int, int] = (80, 24),
        folder: Path | None = None,
    ) -> None:
        """``size`` in columns and lines."""
        columns, lines = size
        for name in ("COLUMNS", "LINES"):
            environment.pop(name, None)
        self.emulator = Emulator(columns, lines)
        self.written = b""
        """All that came from the program."""
        self._child = pexpect.spawn(
            words[0],
            list(words[1:]),
            env=environment,
            cwd=folder,
            dimensions=(lines, columns),
            echo=True,
            preexec_fn=hear_interrupts,
        )
        # So long pexpect waits before it writes, and before it reads what a program wrote last.
        self._child.delaybeforesend = None
        self._child.delayafterread = None

    def __enter__(self) -> Screen:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        if not self._child.closed:
            self.hang_up()
        self._child.ptyproc.wait()

    # ------------------------------------------------------------------------------------ hands

    def keys(self, *keys: str) -> None:
        """Press keys, or type text."""
        for key in keys:
            self.send(key.encode())

    def send(self, data: bytes) -> None:
        """Send bytes, however many; what the program writes meanwhile is read."""
        while data:
            data = data[os.write(self._child.child_fd, data[:1024]) :]
            self.look(0.0)

    def resize(self, columns: int, lines: int) -> None:
        """Give the window another size."""
        self.emulator.resize(lines, columns)
        self._child.setwinsize(lines, columns)

    def hang_up(self) -> None:
        """Close the window."""
        terminal = self._child.ptyproc
        terminal.fileobj.close()
        terminal.closed = self._child.closed = True

    # ------------------------------------------------------------------------------------- eyes

    @property
    def text(self) -> str:
        """The lines as they are now."""
        return self.emulator.text

    @property
    def words(self) -> str:
        """The same with a single blank wherever there are some, or a line ends."""
        return " ".join(self.text.split())

    def look(self, seconds: float) -> bool:
        """Take what comes within so many seconds, up to the first pause; whether more may come.

        Not for ever: a program that is quicker than this process makes no pause.
        """
        try:
            for _ in range(AT_ONCE):
                chunk = self._child.read_nonblocking(65536, timeout=seconds)
                self.written += chunk
                self.emulator.show(chunk)
                seconds = 0.0
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        return True

    def watch(self, seconds: float) -> bool:
        """Look for so long; whether more may come."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not self.look(left):
                return False
        return True

    def until(self, is_so: Callable[[], object], seconds: float = PATIENCE) -> float:
        """Look until something is the case; the seconds that it took."""
        start = time.monotonic()
        has_ended = False
        while not is_so():
            passed = time.monotonic() - start
            if has_ended or passed > seconds:
                raise AssertionError(f"it did not come to that within {passed:.1f} s:\n{self.text}")
            # Not after each piece of what comes: that is more often than a person could look.
            has_ended = not self.watch(0.03)
        return time.monotonic() - start

    def wait_for(self, text: str, seconds: float = PATIENCE) -> float:
        """Look until a text is on the screen, however its lines are broken; how long it took."""
        return self.until(lambda: text in self.words, seconds)

    def wait_up(self) -> None:
        """Look until the program has the terminal: before that Enter is a line's end."""
        self.until(lambda: not self.modes[0] & termios.ICRNL)

    def wait_gone(self, text: str, seconds: float = PATIENCE) -> float:
        """Look until a text is no longer on the screen."""
        return self.until(lambda: text not in self.words, seconds)

    # ---------------------------------------------------------------------------------- process

    @property
    def pid(self) -> int:
        """The process that was started on the terminal."""
        return int(self._child.pid)

    @property
    def modes(self) -> list[Any]:
        """How the terminal treats what is typed: what ``stty`` shows."""
        return termios.tcgetattr(self._child.child_fd)

    def below(self, *names: str) -> list[int]:
        """The processes that it started and those that they started, parents first; with
        ``names`` only those whose command line has one of these."""
        found = psutil.Process(self.pid).children(recursive=True)
        lines = {process.pid: _line_of(process) for process in found}
        return [pid for pid, line in lines.items() if not names or any(n in line for n in names)]

    def end(self, seconds: float = PATIENCE) -> int:
        """Wait for the end of the program; its exit status, minus the signal that killed it."""
        deadline = time.monotonic() + seconds
        while self.look(0.05) or self._child.isalive():
            if time.monotonic() > deadline:
                raise AssertionError(f"it goes on:\n{self.text}")
        killed_by = self._child.signalstatus
        return -int(killed_by) if killed_by is not None else int(self._child.exitstatus)


def _line_of(process: psutil.Process) -> str:
    """The command line of a process, "" if it has ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""

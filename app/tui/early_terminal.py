"""The terminal while the app is being loaded: nothing typed is echoed, and nothing is lost.

A person types as soon as they have started something, and Textual has the terminal half a second
later. Until then keys are taken as they come: Enter stays Enter, and no letter is echoed onto the
screen that the app is about to paint. Ctrl-C alone keeps its meaning: whoever wants out gets out.
"""

from __future__ import annotations

import os
import select
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from gemma_local.app.tui.terminal_answers import QUESTION, Answers

PATIENCE: Final = 0.4
"""Seconds that the terminal's answer is waited for; loading the app takes about as long anyway."""
_CHUNK: Final = 4096
_IFLAG, _LFLAG, _CC = 0, 3, 6
"""Places in what ``termios.tcgetattr`` gives."""

Modes = list[Any]
"""What ``termios.tcgetattr`` gives."""


def quiet(fd: int, modes: Modes) -> Modes:
    """These modes of the terminal ``fd``, but so that it echoes nothing, waits for no end of a
    line, and changes no key."""
    import termios

    changed = [*modes[:_CC], list(modes[_CC])]
    changed[_LFLAG] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN)
    changed[_IFLAG] &= ~(termios.ICRNL | termios.INLCR | termios.IGNCR | termios.IXON)
    changed[_CC][termios.VMIN], changed[_CC][termios.VTIME] = 1, 0
    disabled = bytes([os.fpathconf(fd, "PC_VDISABLE") & 0xFF])
    for key in (termios.VSUSP, termios.VQUIT):
        changed[_CC][key] = disabled
    return changed


class EarlyTerminal:
    """A terminal that was taken before there was an app, and what was typed on it.

    ``is_heard`` is set by whoever can do something with keys: the driver passes none on before.
    """

    def __init__(self, fd: int, output: int) -> None:
        """``fd`` is read, ``output`` written. Raises termios.error, OSError."""
        import termios

        self._fd = fd
        self._output = output
        self._asked_at = 0.0
        self.answers = Answers()
        self.is_heard = threading.Event()
        self.modes: Modes = termios.tcgetattr(fd)
        """The modes that it had."""
        # Now, and not after what was typed has been thrown away.
        termios.tcsetattr(fd, termios.TCSANOW, quiet(fd, self.modes))
        # What was typed before that is a line with its end already, and Ctrl-D in it is NUL.
        self._typed = self._read(0.0).replace(b"\n", b"\r").replace(b"\0", b"")

    def ask(self, write: Callable[[str], None] | None = None) -> None:
        """Ask for the colour of the background; with ``write`` where an app has the screen."""
        self.answers.expect()
        self._asked_at = time.monotonic()
        if write is not None:
            write(QUESTION)
            return
        with suppress(OSError):
            os.write(self._output, QUESTION.encode())

    def hear_answer(self, seconds: float = PATIENCE) -> None:
        """Wait for the answer, so many seconds from the question on at most. What comes later is
        still no key."""
        while not self.answers.is_over:
            left = self._asked_at + seconds - time.monotonic()
            if not (data := self._read(left)):
                break
            self._typed += self.answers.sift(data)

    def take_typed(self) -> bytes:
        """What was typed so far; from now on it is somebody else's."""
        typed, self._typed = self._typed, b""
        return typed

    def give_back(self) -> None:
        """The terminal is as it was."""
        import termios

        with suppress(OSError, termios.error):
            termios.tcsetattr(self._fd, termios.TCSANOW, self.modes)

    def _read(self, seconds: float) -> bytes:
        """What comes within so many seconds, b"" if nothing does."""
        ready, _, _ = select.select([self._fd], [], [], max(seconds, 0.0))
        return os.read(self._fd, _CHUNK) if ready else b""


@contextmanager
def early_terminal() -> Iterator[EarlyTerminal | None]:
    """Take the terminal, and give it back at the end; None where there is none, or no termios."""
    if sys.platform == "win32" or not (sys.stdin.isatty() and sys.stdout.isatty()):
        yield None
        return
    import termios

    try:
        terminal = EarlyTerminal(sys.stdin.fileno(), sys.stdout.fileno())
    except (OSError, termios.error):
        yield None
        return
    try:
        yield terminal
    finally:
        terminal.give_back()

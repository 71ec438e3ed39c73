"""A small process that puts the terminal right when the app was killed and could not.

A terminal that is left in the alternate screen, with mouse reports switched on and the cursor
hidden, is of no use to anybody. The keeper waits for the app's end on a pipe: a word means that all
is well, an end of file without one that nobody has tidied up.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from contextlib import suppress
from typing import Final

from gemma_local.app.tui.early_terminal import Modes, quiet

FAREWELL: Final = "gemma-local was killed; gemma-local --continue goes on with what was said."
RESTORE: Final = "".join(
    (
        "\x1b[<u",  # the keyboard as it was (kitty's protocol)
        "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1016l",  # no mouse reports
        "\x1b[?2004l",  # no bracketed paste
        "\x1b[?1004l",  # no reports of focus
        "\x1b[?2026l",  # nothing held back for a synchronised update
        "\x1b[?2048l",  # no reports of the size
        "\x1b[?7h",  # long lines wrap
        "\x1b[0m\x1b[?1049l",  # the ordinary screen
        "\x1b[?25h",  # the cursor
    )
)
"""Undoes what Textual's Linux driver switches on when it starts application mode."""

_SHELL_TAKES_OVER: Final = 0.1
"""Seconds in which a shell that waited for the app sets the terminal to modes of its own."""
_PR_SET_NAME: Final = 15


class TerminalKeeper:
    """Watches over the terminal from ``start`` to ``dismiss``; does nothing where there is no
    fork."""

    def __init__(self) -> None:
        self._pipe: int | None = None

    def start(self) -> None:
        """To be called before any thread is started, and before the terminal is changed."""
        if sys.platform == "win32" or not sys.stdin.isatty():
            return
        import termios

        with suppress(OSError, termios.error):
            terminal = os.dup(sys.stdin.fileno())
            modes = termios.tcgetattr(terminal)
            theirs, ours = os.pipe()
            if os.fork() == 0:
                os.close(ours)
                _keep(theirs, terminal, modes)
            os.close(theirs)
            os.close(terminal)
            self._pipe = ours

    def dismiss(self) -> None:
        """The terminal is as it was."""
        if self._pipe is not None:
            with suppress(OSError):
                os.write(self._pipe, b"well")
                os.close(self._pipe)
            self._pipe = None


def _keep(pipe: int, terminal: int, modes: Modes) -> None:
    """The keeper's life. Never returns."""
    try:
        # Out of reach of Ctrl-C, but in the session: others may not ask who has the terminal.
        os.setpgid(0, 0)
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGTTOU):
            signal.signal(number, signal.SIG_IGN)
        for fd in (0, 1, 2):
            with suppress(OSError):
                os.close(fd)
        _call_ourselves("terminal-keeper")
        if not os.read(pipe, 4):
            _restore(terminal, modes)
    finally:
        os._exit(0)


def _restore(terminal: int, modes: Modes) -> None:
    import termios

    # At once: what a shell prints into the alternate screen would be lost, its prompt above all.
    with suppress(OSError):
        os.write(terminal, f"{RESTORE}\r\n{FAREWELL}\r\n".encode())
    time.sleep(_SHELL_TAKES_OVER)
    with suppress(OSError, termios.error):
        # Only the app leaves a terminal without the keys that interrupt, or as it is while the app
        # is being loaded: a shell at its prompt, or whatever it has started since, is not to be
        # disturbed. Some shells change nothing.
        found = termios.tcgetattr(terminal)
        if not found[3] & termios.ISIG or found == quiet(terminal, modes):
            termios.tcsetattr(terminal, termios.TCSANOW, modes)


def _call_ourselves(name: str) -> None:
    """So that whoever kills the app by its name does not kill us with it."""
    if sys.platform == "linux":
        with suppress(OSError):
            ctypes.CDLL(None).prctl(_PR_SET_NAME, name.encode()[:15], 0, 0, 0)

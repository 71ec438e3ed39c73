"""Keeps what others write to standard error off the screen.

Textual paints on fd 2, and native code writes to fd 2 whatever it likes. So fd 2 becomes the log,
and Textual gets a copy of what it was.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def guarded_stderr(log: Path) -> Iterator[None]:
    """Within the block fd 2 leads to ``log``, and ``sys.__stderr__`` to the terminal. Where fd 2 is
    no terminal it stays where it leads, and what is painted goes to the one of standard output.

    To be entered before Textual makes its driver, which takes ``sys.__stderr__`` then.
    """
    real, printed = sys.__stderr__, sys.stderr
    assert real is not None
    real.flush()
    is_terminal = os.isatty(2)
    before = os.dup(2)
    terminal = os.dup(2 if is_terminal else 1)
    for fd in (before, terminal):
        os.set_inheritable(fd, False)
    if is_terminal:
        log.parent.mkdir(parents=True, exist_ok=True)
        target = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.dup2(target, 2)
        os.close(target)
    screen = os.fdopen(terminal, "w", encoding=real.encoding, errors="replace", closefd=False)
    sys.__stderr__ = screen  # type: ignore[misc]
    # What Python code prints, warnings above all, goes where fd 2 leads.
    sys.stderr = real
    try:
        yield
    finally:
        # Whose window was closed sees nothing any more.
        with suppress(OSError):
            screen.flush()
        os.dup2(before, 2)
        os.close(before)
        os.close(terminal)
        sys.__stderr__, sys.stderr = real, printed  # type: ignore[misc]

"""Questions that a person answers with yes or no."""

from __future__ import annotations

import sys

from gemma_local.app.terminal import printable, progress


def is_attended() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def confirmed(question: str) -> bool:
    """Ask; anything but yes is no."""
    progress.clear()
    sys.stderr.write(f"{printable(question, sys.stderr)} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")

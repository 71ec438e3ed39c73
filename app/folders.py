"""Where gemma-local keeps what is not the person's own: the log and what was found out."""

from __future__ import annotations

import functools
import os
import tempfile
from pathlib import Path

import platformdirs

_NAME = "gemma-local"


@functools.cache
def log_path() -> Path:
    """The log of the engine and of unexpected errors."""
    return _usable(platformdirs.user_log_path(_NAME, appauthor=False)) / "engine.log"


def exactness_path() -> Path:
    """What ``gemma-local verify`` found on this machine."""
    return platformdirs.user_state_path(_NAME, appauthor=False) / "exactness.json"


def _usable(folder: Path) -> Path:
    """``folder``, or one for temporary files where it can't be written (no home, full disk)."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix=f"{_NAME}-"))

"""Where gemma-local keeps what it writes by itself: conversations, the log, what it found out."""

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


def catalog_path() -> Path:
    """The person's own additions to the catalogue of models. There need not be such a file."""
    return platformdirs.user_config_path(_NAME, appauthor=False) / "catalog.toml"


def settings_path() -> Path:
    """What the person has set. There need not be such a file."""
    return platformdirs.user_config_path(_NAME, appauthor=False) / "config.toml"


def buffers_path() -> Path:
    """The folder with what llama.cpp said it would allocate for models that are here."""
    return platformdirs.user_cache_path(_NAME, appauthor=False) / "buffers"


def history_path() -> Path:
    """How fast earlier runs were on this machine."""
    return platformdirs.user_state_path(_NAME, appauthor=False) / "runs.jsonl"


def pace_path(machine: str) -> Path:
    """What was learned about drafting on this ``machine`` (`engine.plan.history.machine_key`)."""
    return platformdirs.user_state_path(_NAME, appauthor=False) / f"pace-{machine}.json"


def bandwidth_path() -> Path:
    """The memory's bandwidth, measured."""
    return platformdirs.user_state_path(_NAME, appauthor=False) / "bandwidth.json"


def sessions_path() -> Path:
    """The saved conversations."""
    return platformdirs.user_data_path(_NAME, appauthor=False) / "sessions.sqlite3"


def prompts_path() -> Path:
    """The folder with what was written to the model, sent and unsent."""
    return platformdirs.user_state_path(_NAME, appauthor=False) / "prompts"


def checkpoints_path() -> Path:
    """The folder with what files held before the model changed them, a folder for each session."""
    return platformdirs.user_state_path(_NAME, appauthor=False) / "checkpoints"


def state_path() -> Path:
    """The folder with what the model has read of each conversation: gigabytes, and nothing that
    could not be read again."""
    return platformdirs.user_cache_path(_NAME, appauthor=False) / "states"


def attempts_path() -> Path:
    """The folder with copies of projects that attempts work in, while they do."""
    return platformdirs.user_cache_path(_NAME, appauthor=False) / "attempts"


def _usable(folder: Path) -> Path:
    """``folder``, or one for temporary files where it can't be written (no home, full disk)."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix=f"{_NAME}-"))


def places() -> dict[str, Path]:
    """Every folder that something is kept in, by what it is for. On some systems several are one.

    What huggingface_hub keeps is not among them: ``models.store.hub_cache``.
    """
    return {
        "settings": settings_path().parent,
        "data": sessions_path().parent,
        "state": history_path().parent,
        "cache": state_path().parent,
        "log": platformdirs.user_log_path(_NAME, appauthor=False),
    }

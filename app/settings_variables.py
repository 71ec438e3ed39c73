"""The names of the environment variables that settings are given in."""

from __future__ import annotations

from typing import Final

PREFIX: Final = "GEMMA_LOCAL_"
SHORT: Final = {"GEMMA_LOCAL_MODEL": "GEMMA_LOCAL_MODEL__MODEL"}
"""Variables with a shorter name, and the long one."""


def variable_of(table: str, name: str) -> str:
    """The variable for a setting: ``GEMMA_LOCAL_SCREEN__THEME`` is ``theme`` in ``[screen]``."""
    return f"{PREFIX}{table}__{name}".upper()

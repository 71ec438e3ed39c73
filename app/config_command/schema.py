"""The JSON schema of ``config.toml``, for editors that know TOML."""

from __future__ import annotations

from typing import Any

from gemma_local.app.settings import Settings
from gemma_local.app.settings_words import purpose


def schema() -> dict[str, Any]:
    """A JSON schema (draft 2020-12), with the settings' documentation as descriptions."""
    described: dict[str, Any] = _tidied(Settings.model_json_schema())
    described["description"] = "The settings of gemma-local, config.toml."
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "gemma-local",
        **described,
    }


def _tidied(part: Any) -> Any:
    """Without titles, which only repeat the names, and with descriptions in one line each."""
    if isinstance(part, list):
        return [_tidied(item) for item in part]
    if not isinstance(part, dict):
        return part
    tidied = {
        name: _tidied(value)
        for name, value in part.items()
        if name != "title" or not isinstance(value, str)
    }
    if isinstance(text := tidied.get("description"), str):
        tidied["description"] = purpose(text)
    return tidied

"""From settings to options: what the command line leaves open is as the settings say."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from gemma_local.app.options import AnswerOptions, PairOptions
from gemma_local.app.settings_variables import PREFIX, SHORT

if TYPE_CHECKING:
    from gemma_local.app.settings import Settings

_Options = TypeVar("_Options", bound=PairOptions)

TABLES: Final = ("model", "answer", "conversations", "drafting", "sampling")
"""The tables whose settings have options of the same names."""

_AGENT: Final = ("max_calls",)
"""What ``[agent]`` shares with the options. Its mode is for when the person is there."""

_MEANINGS: Final[dict[tuple[str, object], object]] = {
    ("think", "off"): None,
    ("think", "on"): 0,
    ("draft", "off"): 0,
}
"""Words of settings that options have other values for; "auto" leaves an option as it is."""


def with_settings(options: _Options, given: Collection[str]) -> _Options:
    """Options that were not ``given`` on the command line, as the person's settings have them.

    Raises BadSettings.
    """
    if not _has_settings():
        return options
    # Pydantic would look for plugins in all that is installed.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from gemma_local.app.settings_file import load_settings

    return filled(options, load_settings(), given)


def filled(options: _Options, settings: Settings, given: Collection[str]) -> _Options:
    """``options`` with the settings' values in the fields that are not among ``given``.

    ``bench`` and ``verify`` only take what says which pair is loaded, and how.
    """
    kind = AnswerOptions if isinstance(options, AnswerOptions) else PairOptions
    known = {field.name for field in fields(kind)}
    values = {
        name: value
        for name, value in _set(settings).items()
        if name in known and name not in given and value != "auto"
    }
    if isinstance(options, AnswerOptions):
        if options.raw:
            # It continues a text, in which nobody is instructed.
            values.pop("system", None)
        if "draft" in given and options.draft != 0 and values.get("drafter") == "none":
            # Whoever asks for drafts now wants the drafter.
            del values["drafter"]
    return replace(options, **values)


def setting_value(name: str, value: object) -> object:
    """The value of an option as a setting has it."""
    if value is None or (name == "gpu_layers" and value == -1):
        return "off" if name == "think" else "auto"
    return "on" if name == "think" and value == 0 else value


def _set(settings: Settings) -> dict[str, Any]:
    """The values that somebody has set, as options have them."""
    tables = [getattr(settings, table) for table in TABLES]
    chosen = [(table, name) for table in tables for name in table.model_fields_set]
    chosen += [(settings.agent, name) for name in _AGENT if name in settings.agent.model_fields_set]
    values = {name: getattr(table, name) for table, name in chosen}
    return {name: _as_option(name, value) for name, value in values.items()}


def _as_option(name: str, value: Any) -> Any:
    return _MEANINGS.get((name, value), value) if isinstance(value, str) else value


def _has_settings() -> bool:
    """Whether there is anything to read; told without what reads it, which takes its time."""
    from gemma_local.app import folders

    return folders.settings_path().exists() or any(
        name in SHORT or (name.startswith(PREFIX) and "__" in name.removeprefix(PREFIX))
        for name in os.environ
    )

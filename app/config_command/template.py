"""A settings file to begin with: every setting, with what it does, switched off."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Final

from gemma_local.app.settings import Settings
from gemma_local.app.settings_change import toml_value
from gemma_local.app.settings_words import TEXT, allowed, model_of, purpose

_WIDTH: Final = 88
_HEAD: Final = """\
## Settings of gemma-local. A line with "# name = value" shows what holds without it: take the "# "
## away to change it. `gemma-local config show` tells what holds now, and why.
"""
_KEYS: Final = """\
## Other keys for what can be done, by the names that the README lists.
# find = "ctrl+x"
# stats = ["f2", "alt+x"]
"""


def template() -> str:
    """The text of a settings file that changes nothing."""
    return "\n".join([_HEAD, *("\n".join(_table(table)) for table in Settings.model_fields)])


def _table(table: str) -> Iterator[str]:
    model = model_of(table)
    if model is None:
        yield f"[{table}]"
        yield _KEYS
        return
    yield from _comment(purpose(model.__doc__ or ""))
    yield f"[{table}]"
    for name, field in model.model_fields.items():
        default = field.get_default(call_default_factory=True)
        yield from _comment(purpose(field.description or ""))
        if (what := allowed(table, name)) != TEXT:
            yield from _comment(f"It is {what}.")
        yield f"# {name} = {toml_value(default)}"
    yield ""


def _comment(text: str) -> Iterator[str]:
    """A comment, with two signs: what has one can be switched on."""
    for line in textwrap.wrap(text, _WIDTH, break_on_hyphens=False):
        yield f"## {line}"

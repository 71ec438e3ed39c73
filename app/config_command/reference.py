"""The reference of all settings in Markdown: ``docs/settings.md``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gemma_local.app.settings import Settings
from gemma_local.app.settings_change import toml_value
from gemma_local.app.settings_variables import variable_of
from gemma_local.app.settings_words import allowed, model_of, purpose

_HEAD: Final = """\
# Settings

`gemma-local config init` writes a `config.toml` with everything below, commented out, into your
configuration folder (`~/.config/gemma-local` on Linux; `gemma-local paths` says where it is).
`gemma-local config show` lists what holds and where it comes from, with options behind it also what
they would change. A wrong name or value is reported with line and column.

What is said later goes first: default, file, environment, command line. In the environment each
setting is a variable such as `{variable}`; `GEMMA_LOCAL_MODEL` is short for
`GEMMA_LOCAL_MODEL__MODEL`. Settings with an option of the same name (`ctx` is `--ctx`) are its
default. Lists are written as in TOML: `GEMMA_LOCAL_ANSWER__STOP='["END"]'`.

`gemma-local config schema` prints a JSON schema, with which editors complete and check the file;
it lies beside this page, too ([settings.schema.json](settings.schema.json)).
"""
_KEYS: Final = """\
## [keys]

Other keys for what can be done, by the names that the [README](../README.md) lists: a key such as
`find = "ctrl+x"`, or a list of keys.
"""


def reference() -> str:
    """The whole page."""
    head = _HEAD.format(variable=variable_of("screen", "theme"))
    return "\n".join([head, *("\n".join(_table(table)) for table in Settings.model_fields)])


def _table(table: str) -> Iterator[str]:
    model = model_of(table)
    if model is None:
        yield _KEYS.rstrip()
        yield ""
        return
    yield f"## [{table}]"
    yield ""
    yield purpose(model.__doc__ or "")
    yield ""
    yield "| setting | default | what it may be | |"
    yield "|---|---|---|---|"
    for name, field in model.model_fields.items():
        default = toml_value(field.get_default(call_default_factory=True))
        cells = (
            f"`{name}`",
            f"`{default}`",
            allowed(table, name),
            purpose(field.description or ""),
        )
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
    yield ""

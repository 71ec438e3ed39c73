"""What a person can set: the tables of ``config.toml``.

A docstring under a setting is its documentation. Reading and writing the file: ``settings_file``.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from gemma_local.app.agent.consent import Mode

Word = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]


def _several(value: Any) -> Any:
    """One key, keys with commas between them, or a list of keys."""
    if not isinstance(value, str):
        return value
    # A comma alone is the key with that name.
    return [value] if value.strip() == "," else [key.strip() for key in value.split(",")]


Keys = Annotated[list[Word], BeforeValidator(_several), Field(min_length=1)]


class _Table(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True
    )


class ScreenSettings(_Table):
    """``[screen]``: how it looks."""

    theme: Word = "gemma-dark"
    """The theme; ``/theme`` names those that there are. "auto" goes by the terminal."""
    glyphs: Literal["auto", "unicode", "ascii"] = "auto"
    """Whether lines, bars and marks are drawn with Unicode or with ASCII alone."""
    mouse: bool = True
    """false leaves the mouse to the terminal, so that it selects text as everywhere else."""
    tint: bool = False
    """Whether text that the drafter proposed is tinted."""
    thoughts: bool = False
    """Whether thoughts are shown open."""
    columns: Annotated[int, Field(ge=40, le=400)] = 100
    """The widest that text becomes."""
    animation: Literal["auto", "none"] = "auto"
    """"none" keeps everything still; "auto" does so over SSH."""


class NotifySettings(_Table):
    """``[notify]``: how you hear that an answer is there."""

    when: Literal["unfocused", "always", "never"] = "unfocused"
    """Only while you look at another window, each time, or not at all."""
    after: Annotated[int, Field(ge=0, le=86400)] = 10
    """Seconds; a quicker answer is not worth a notice."""
    how: Literal["auto", "bell", "osc9"] = "auto"
    """The terminal's bell, or a notification of the desktop (OSC 9) where the terminal knows it."""


class ComposerSettings(_Table):
    """``[composer]``: where you write."""

    editor: str = ""
    """The command of an editor for long messages; empty: $VISUAL, $EDITOR."""


class AgentSettings(_Table):
    """``[agent]``: what the model may do by itself."""

    mode: Mode = "ask"
    """Ask before every change, edit files without asking, run commands as well, or only look."""
    tools: Literal["auto", "on", "off"] = "auto"
    """Whether the model may work on files: "auto" in the folder of a project, with a context of
    8,192 tokens or more; "on" in every folder but those that hold everything."""
    rules: list[Word] = Field(default_factory=list)
    """What is allowed without asking, such as "run: pytest *" or "edit: src/**", or forbidden, such
    as "!run: make deploy *"."""
    network: bool = False
    """Whether commands may use the network where they run in a sandbox."""


class Settings(_Table):
    """All of ``config.toml``. What it leaves out has the value given here."""

    screen: ScreenSettings = ScreenSettings()
    notify: NotifySettings = NotifySettings()
    composer: ComposerSettings = ComposerSettings()
    agent: AgentSettings = AgentSettings()
    keys: dict[str, Keys] = Field(default_factory=dict)
    """``[keys]``: other keys for what the help screen lists, such as find = "ctrl+x" or a list."""

"""What the model is told about its work, and what the project has to say to it.

The text stands at the beginning of every prompt, so it must never change within a conversation:
no clock, no state of the repository, no path of this machine is in it. What a folder further down
has to say comes with the first result from there.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

from gemma_local.app.agent.budget import Budget
from gemma_local.app.agent.files.text_file import NotText, TextFile
from gemma_local.app.agent.files.workspace import Workspace
from gemma_local.models.message import ToolCall

Count = Callable[[str], int]
"""Tokens of a text."""

NAMES: Final = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")
"""Files in which a project speaks to coding assistants; of one folder the first is read."""

_ROOMY: Final = 16_384
"""From a window of so many tokens on there is room for the rules of the larger models."""
_LARGEST: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Instructions:
    """``text`` is for the model. ``source`` names the project's own file in it, "" if there is
    none, and ``remark`` tells the person if only a part of that is read."""

    text: str
    source: str = ""
    remark: str = ""


def instructions(
    workspace: Workspace,
    budget: Budget,
    count: Count,
    *,
    is_large: bool = False,
    is_terse: bool = False,
) -> Instructions:
    """The rules of the work, and the project's own. ``is_large``: for a model that bears more of
    them. ``is_terse``: for one that bears a sentence, and nothing of the project's."""
    if is_terse:
        return Instructions(_prompt("terse.md").strip())
    rules = _prompt("agent.md")
    if is_large and budget.window >= _ROOMY:
        rules += _prompt("large.md")
    found = _own(workspace, workspace.folder)
    if found is None:
        return Instructions(rules.strip())
    name, own = found
    part, is_whole = _capped(own, budget.instructions_tokens, count, name)
    remark = (
        ""
        if is_whole
        else f"{name} is long: the model reads its first {budget.instructions_tokens:,} tokens"
    )
    text = f"{rules.strip()}\n\nWhat this project asks for ({name}):\n{part}"
    return Instructions(text, name, remark)


def example_calls(names: Iterable[str]) -> tuple[ToolCall, ...]:
    """A call of each of these tools, as the model would make it."""
    examples = _examples()
    return tuple(ToolCall(name, examples[name]) for name in names if name in examples)


class NestedInstructions:
    """What folders below the workspace's own have to say, each told once."""

    def __init__(self, workspace: Workspace, budget: Budget, count: Count) -> None:
        self._workspace = workspace
        self._most = max(1, budget.instructions_tokens // 2)
        self._count = count
        self._told: set[str] = set()

    def mark_told(self, names: Iterable[str]) -> None:
        """The model has these before it already, from when the conversation was had before."""
        self._told.update(names)

    def on_the_way_to(self, path: Path) -> dict[str, str]:
        """What is new between the workspace's folder and ``path``, which is free of links: texts
        by the names of their files, the outermost first. They count as told from now on."""
        root = self._workspace.folder
        if not path.is_relative_to(root):
            return {}
        texts: dict[str, str] = {}
        folder = root
        for part in path.relative_to(root).parts:
            folder = folder / part
            if not folder.is_dir():
                break
            found = _own(self._workspace, folder)
            if found is not None and found[0] not in self._told:
                name, own = found
                self._told.add(name)
                texts[name] = _capped(own, self._most, self._count, name)[0]
        return texts


def _own(workspace: Workspace, folder: Path) -> tuple[str, str] | None:
    """The name and text of a folder's own instructions; none if they are no readable text."""
    for name in NAMES:
        path = folder / name
        try:
            # A link could lead to what must not be read unasked.
            if path.is_symlink() or not path.is_file() or path.stat().st_size > _LARGEST:
                continue
            text = TextFile.decoded(path.read_bytes()).text.strip()
        except (OSError, NotText):
            continue
        if text:
            return workspace.shown(path), text
    return None


def _capped(text: str, most: int, count: Count, name: str) -> tuple[str, bool]:
    """As many whole lines as have at most ``most`` tokens, and whether that is all of them."""
    if count(text) <= most:
        return text, True
    lines = text.split("\n")
    low, high = 0, len(lines)
    while high - low > 1:
        middle = (low + high) // 2
        if count("\n".join(lines[:middle])) <= most:
            low = middle
        else:
            high = middle
    part = "\n".join(lines[:low])
    return f"{part}\n[{name} goes on: {len(lines) - low} more lines]".lstrip(), False


@cache
def _prompt(name: str) -> str:
    return resources.files("gemma_local.app.agent.prompts").joinpath(name).read_text("utf-8")


@cache
def _examples() -> dict[str, dict[str, Any]]:
    return tomllib.loads(_prompt("examples.toml"))

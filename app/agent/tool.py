"""What a tool is: it says what a call would do, and does it once that is allowed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from gemma_local.app.agent.file_diff import FileDiff
from gemma_local.app.stop import Stop
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.message import Tool as Declaration
from gemma_local.models.message import Value

Kind = Literal["read", "edit", "run", "plan"]
"""It looks at files; changes files; runs a command; or keeps a list of its own."""


class ToolProblem(GemmaLocalError):
    """A call that cannot be carried out. The sentence is for the model: what is wrong, and how to
    do it right."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What a call would do, for whoever has to allow it.

    ``why`` says why it must be asked for in every mode ("deletes files", "outside the workspace"),
    empty if the mode decides. ``rule`` is the pattern that "always" would allow, empty if there
    can be none. ``touches`` are the files that it changes, as far as that is known before.
    """

    kind: Kind
    title: str
    diff: FileDiff | None = None
    command: str = ""
    why: str = ""
    rule: str = ""
    touches: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """What came of it: ``text`` for the model, ``summary`` in a few words for the person."""

    text: str
    summary: str
    ok: bool = True
    diff: FileDiff | None = None


class Step(Protocol):
    """One call, understood and checked, and not yet done."""

    @property
    def effect(self) -> Effect:
        """What it would do."""

    def carry_out(self, stop: Stop, on_output: Callable[[str], None]) -> Result:
        """Do it. ``on_output`` hears what a command writes while it runs.

        Raises ToolProblem.
        """


class Tool(Protocol):
    """Something that the model may call."""

    @property
    def declaration(self) -> Declaration:
        """Name, description and schema, as the model reads them."""

    def step(self, arguments: Mapping[str, Value]) -> Step:
        """Understand a call; nothing is changed yet. Raises ToolProblem."""

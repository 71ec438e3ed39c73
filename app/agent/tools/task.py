"""The tool with which the model has something found out, by another that only looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from gemma_local.app.agent.tool import Effect, Result, Step, Tool, ToolProblem
from gemma_local.app.agent.tools.arguments import declared, text_of
from gemma_local.app.stop import Stop
from gemma_local.models.message import Tool as Declaration
from gemma_local.models.message import Value

NAME: Final = "task"
_TITLE: Final = 100
_LONGEST: Final = 8_000
"""Characters of what it is asked."""


class Helping(Protocol):
    """Whoever finds things out."""

    def help(self, prompt: str, stop: Stop, on_output: Callable[[str], None]) -> Result:
        """Do what ``prompt`` asks and report. ``on_output`` hears a line for each thing that it
        looks at. May be called from several threads. Raises ToolProblem."""


class Task:
    """``task(prompt)``. Several calls of one answer are carried out at once."""

    def __init__(self) -> None:
        self.helpers: Helping | None = None
        """Who helps; there before the first call."""

    @property
    def declaration(self) -> Declaration:
        """As the model reads it."""
        return declared(
            NAME,
            "Have a helper find something out. It only reads, knows nothing of this conversation,"
            " and reports in a few sentences. Several at once work side by side.",
            prompt=("string", "all that it must know"),
        )

    def step(self, arguments: Mapping[str, Value]) -> Step:
        """Raises ToolProblem."""
        prompt = text_of(arguments, "prompt").strip()
        if not prompt:
            raise ToolProblem('"prompt" is empty. Say what the helper should find out.')
        if len(prompt) > _LONGEST:
            raise ToolProblem(f"The prompt is longer than {_LONGEST:,} characters. Ask for less.")
        assert self.helpers is not None
        return _Asking(self.helpers, prompt)


@dataclass(frozen=True, slots=True)
class _Asking:
    helpers: Helping
    prompt: str

    @property
    def effect(self) -> Effect:
        """Looking at files of the workspace."""
        title = " ".join(self.prompt.split())
        return Effect("read", title if len(title) <= _TITLE else f"{title[: _TITLE - 3]}...")

    def carry_out(self, stop: Stop, on_output: Callable[[str], None]) -> Result:
        """Raises ToolProblem."""
        return self.helpers.help(self.prompt, stop, on_output)


@dataclass(frozen=True, slots=True)
class Barred:
    """A tool that stands in the prompt, because another conversation begins alike, and is not to be
    used: ``sentence`` says what to do instead."""

    tool: Tool
    sentence: str

    @property
    def declaration(self) -> Declaration:
        """That of the tool."""
        return self.tool.declaration

    def step(self, arguments: Mapping[str, Value]) -> Step:
        """Raises ToolProblem, always."""
        raise ToolProblem(self.sentence)

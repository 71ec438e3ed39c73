"""All that the model works with in one conversation: a folder, tools, and what it is told."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gemma_local.app import folders
from gemma_local.app.agent.budget import Budget
from gemma_local.app.agent.checkpoints import Checkpoints
from gemma_local.app.agent.files.seen import Seen
from gemma_local.app.agent.files.workspace import UnfitWorkspace, Workspace
from gemma_local.app.agent.instructions import (
    Instructions,
    NestedInstructions,
    example_calls,
    instructions,
)
from gemma_local.app.agent.project import is_project
from gemma_local.app.agent.run.sandbox import KEPT_PREFIX, Sandbox
from gemma_local.app.agent.terms import Terms
from gemma_local.app.agent.terse import Terse
from gemma_local.app.agent.tool import Tool, ToolProblem
from gemma_local.app.agent.tools.edit import Edit
from gemma_local.app.agent.tools.kit import Kit
from gemma_local.app.agent.tools.list import List
from gemma_local.app.agent.tools.read import Read
from gemma_local.app.agent.tools.run import Run
from gemma_local.app.agent.tools.search import Search
from gemma_local.app.agent.tools.task import Task
from gemma_local.app.agent.tools.todo import Todo, TodoList
from gemma_local.app.agent.tools.write import Write
from gemma_local.app.sessions.entry import Entry
from gemma_local.app.stop import Stop
from gemma_local.models.message import ToolCall
from gemma_local.models.pocket import is_pocket
from gemma_local.models.target import TargetFacts

LEAST_CONTEXT: Final = 8_192
"""With a smaller window tools and their results leave too little room for the work."""
LARGE: Final = 20_000_000_000
"""Parameters from which on a model bears more rules: 26B and 31B."""
INSTRUCTIONS: Final = "instructions"
"""A key of ``Entry.info`` of a result: names of the instructions that came with it."""


@dataclass(slots=True)
class Workbench:
    """``examples`` are calls as the model would make them, none for a model of another format."""

    kit: Kit
    tools: tuple[Tool, ...]
    instructions: Instructions
    examples: tuple[ToolCall, ...]
    nested: NestedInstructions
    todos: TodoList
    checkpoints: Checkpoints
    sandbox: Sandbox
    _run: Run
    _temporary: tempfile.TemporaryDirectory[str] | None = None

    @classmethod
    def open(
        cls,
        folder: Path,
        window: int,
        terms: Terms,
        count: Callable[[str], int],
        *,
        label: str = "",
        is_gemma4: bool = True,
        is_large: bool = False,
        is_terse: bool = False,
        environment: Mapping[str, str] = os.environ,
        seen: Seen | None = None,
        task: Tool | None = None,
    ) -> Workbench:
        """For work in ``folder`` with a context of ``window`` tokens. ``label`` names the session
        that what is changed can be undone in; without one, as long as this runs. ``is_terse``: for
        the built-in model, which is told as little as possible. ``environment`` is what commands
        begin with, ``seen`` what the model has read of the files before. ``task`` is the tool that
        asks for help, if there is any.

        Raises UnfitWorkspace, EngineFailed.
        """
        budget = Budget(window)
        temporary = (
            None
            if label
            else tempfile.TemporaryDirectory(prefix=KEPT_PREFIX, ignore_cleanup_errors=True)
        )
        own = folders.checkpoints_path() / label if temporary is None else Path(temporary.name)
        outputs = own / "outputs"
        workspace = Workspace([folder], outputs=outputs)
        checkpoints = Checkpoints(own, workspace.shown)
        kit = Kit(workspace, budget, checkpoints, Seen() if seen is None else seen)
        sandbox = Sandbox(workspace.roots, has_network=terms.network, shown=[outputs])
        todos = TodoList()
        run = Run(kit, sandbox, outputs, environment=environment)
        tools: tuple[Tool, ...] = (
            *(Read(kit), Edit(kit), Write(kit), Search(kit), List(kit)),
            *(run, Todo(todos)),
            *([task] if task is not None else []),
        )
        if is_terse:
            tools = tuple(map(Terse, tools))
        has_examples = is_gemma4 and not is_terse
        return cls(
            kit,
            tools,
            instructions(workspace, budget, count, is_large=is_large, is_terse=is_terse),
            example_calls(tool.declaration.name for tool in tools) if has_examples else (),
            NestedInstructions(workspace, budget, count),
            todos,
            checkpoints,
            sandbox,
            run,
            temporary,
        )

    @property
    def command_folder(self) -> str:
        """Where the next command begins, as the person sees it."""
        return self._run.shown_folder()

    @property
    def task(self) -> Task | None:
        """The tool that asks for help, None if there is no help."""
        return next((tool for tool in self.tools if isinstance(tool, Task)), None)

    def go_on_with(self, entries: Iterable[Entry]) -> None:
        """Take up what a conversation that was had before has left: the list of what is to be done,
        and which instructions the model still reads."""
        todo = Todo(self.todos)
        last: dict[str, Any] | None = None
        for entry in entries:
            if not entry.dropped and entry.stand_in is None:
                self.nested.mark_told(entry.info.get(INSTRUCTIONS, ()))
            for call in entry.message.calls:
                last = dict(call.arguments) if call.name == "todo" else last
        if last is not None:
            with suppress(ToolProblem):
                todo.step(last).carry_out(Stop(), lambda _: None)

    def close(self) -> None:
        """Remove what was temporary."""
        self.sandbox.close()
        if self._temporary is not None:
            self._temporary.cleanup()


def workbench_for(
    terms: Terms,
    folder: Path,
    window: int,
    target: TargetFacts,
    count: Callable[[str], int],
    *,
    label: str,
    supports_tools: bool,
    sequences: int = 1,
) -> Workbench | str:
    """What a model works with in ``folder``, or why it gets no tools there. ``sequences`` are those
    that the engine has: with one there are no helpers. Raises EngineFailed."""
    why = why_without_tools(terms, folder, window, supports_tools=supports_tools)
    return why or Workbench.open(
        folder,
        window,
        terms,
        count,
        label=label,
        is_gemma4=target.is_gemma4,
        is_large=target.parameter_count > LARGE,
        is_terse=is_pocket(target.name),
        task=Task() if sequences > 1 and terms.have_helpers(target.parameter_count) else None,
    )


def why_without_tools(terms: Terms, folder: Path, window: int, *, supports_tools: bool) -> str:
    """Why the model is not offered tools, for the person; "" if it is."""
    if terms.tools == "off":
        return "tools are off"
    if not supports_tools:
        return "this model's chat template knows no tools"
    try:
        Workspace([folder])
    except UnfitWorkspace as error:
        return str(error)
    if terms.tools == "on":
        return ""
    if window < LEAST_CONTEXT:
        return (
            f"the context of {window:,} tokens is too small for tools: give --ctx {LEAST_CONTEXT}"
        )
    if not is_project(folder):
        return "this folder looks like no project (git init makes it one)"
    return ""

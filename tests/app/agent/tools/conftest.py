"""The tools of one conversation, in a workspace of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gemma_local.app.agent.budget import Budget
from gemma_local.app.agent.checkpoints import Checkpoints
from gemma_local.app.agent.files.workspace import Workspace
from gemma_local.app.agent.tool import Result, Tool
from gemma_local.app.agent.tools.edit import Edit
from gemma_local.app.agent.tools.kit import Kit
from gemma_local.app.agent.tools.list import List
from gemma_local.app.agent.tools.read import Read
from gemma_local.app.agent.tools.search import Search
from gemma_local.app.agent.tools.todo import Todo, TodoList
from gemma_local.app.agent.tools.write import Write
from gemma_local.app.stop import Stop
from gemma_local.models.message import Value

APP = """\
import os


def main():
    x = 1
    y = 2
    return x + y
"""

Call = Callable[..., Result]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = (tmp_path / "project").resolve()
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "app.py").write_text(APP, encoding="utf-8")
    return folder


@pytest.fixture
def kit(root: Path) -> Kit:
    workspace = Workspace([root])
    checkpoints = Checkpoints(root.parent / "checkpoints", workspace.shown)
    checkpoints.begin(1)
    return Kit(workspace, Budget(8_192), checkpoints)


@pytest.fixture
def todos() -> TodoList:
    return TodoList()


@pytest.fixture
def tools(kit: Kit, todos: TodoList) -> dict[str, Tool]:
    made: list[Tool] = [Read(kit), Edit(kit), Write(kit), Search(kit), List(kit), Todo(todos)]
    return {tool.declaration.name: tool for tool in made}


@pytest.fixture
def call(tools: dict[str, Tool]) -> Call:
    """Calls a tool, and carries it out."""

    def do(name: str, **arguments: Value) -> Result:
        return tools[name].step(arguments).carry_out(Stop(), lambda text: None)

    return do

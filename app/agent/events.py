"""What happens while tools run, for whoever shows it.

Ids are unique within a conversation; all text is as the tool made it and may hold anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from gemma_local.app.agent.file_diff import FileDiff
from gemma_local.models.message import Value

Outcome = Literal["ok", "failed", "refused", "stopped"]
"""It did what was asked; it could not; the person said no; the turn was stopped."""


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A call is about to run. ``title`` is one line such as "src/app.py 1-120"."""

    id: str
    tool: str
    title: str
    arguments: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """A running command wrote something; text goes on where it stopped."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A call has ended. ``summary`` is a few words ("120 lines", "exit 1"), ``body`` what the model
    reads of it."""

    id: str
    outcome: Outcome
    summary: str
    body: str = ""
    diff: FileDiff | None = None
    seconds: float = 0.0


ToolEvent: TypeAlias = ToolStarted | ToolOutput | ToolEnded

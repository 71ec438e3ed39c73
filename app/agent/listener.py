"""Whoever shows a turn of the model's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gemma_local.app.agent.events import ToolEvent
from gemma_local.app.assistant import Answered
from gemma_local.app.live_answer import Listener


class AgentListener(Listener, Protocol):
    """Hears what happens in a turn: the parts of every answer, and between them what tools do."""

    def tool(self, event: ToolEvent) -> None:
        """A call begins, writes something, or has ended."""

    def answered(self, answered: Answered) -> None:
        """One answer of the turn has ended; if it has calls they come next."""

    def told(self, texts: Sequence[str]) -> None:
        """What the person wrote meanwhile has been given to the model."""

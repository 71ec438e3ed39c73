"""A turn of the model's: all that it did for one message of the person's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gemma_local.app.agent.events import Outcome
from gemma_local.app.assistant import Answered
from gemma_local.models.message import ToolCall, Value

End = Literal["answered", "stopped", "loop", "limit", "cut", "nan"]
"""It said what it had to say; somebody stopped it; it went round in circles; it made as many calls
as it may; its answer was cut off; or what it computes is no longer a number."""


@dataclass(frozen=True, slots=True)
class CallDone:
    """A call and what became of it. ``nobody``: it needed consent, and nobody could be asked."""

    id: str
    tool: str
    arguments: Mapping[str, Value]
    outcome: Outcome
    summary: str
    body: str
    seconds: float = 0.0
    nobody: bool = False

    def report(self) -> dict[str, Any]:
        """The keys of ``--output json``."""
        return {
            "id": self.id,
            "tool": self.tool,
            "arguments": dict(self.arguments),
            "outcome": self.outcome,
            "summary": self.summary,
            "seconds": round(self.seconds, 3),
        }


@dataclass(slots=True)
class Turned:
    """How a turn ended: with its last answer, after these calls."""

    end: End
    answered: Answered
    calls: list[CallDone] = field(default_factory=list)

    @property
    def lacked_consent(self) -> bool:
        """Whether something was not done because nobody could be asked."""
        return any(call.nobody for call in self.calls)


def end_of(answered: Answered) -> End:
    """How an answer without calls ends the turn."""
    match answered.done.reason:
        case "cancelled":
            return "stopped"
        case "loop":
            return "loop"
        case "nan":
            return "nan"
        case "length" | "context":
            return "cut"
    return "answered"


def as_call(call: CallDone) -> ToolCall:
    """The call alone."""
    return ToolCall(call.tool, call.arguments)

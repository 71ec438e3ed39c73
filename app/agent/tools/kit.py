"""What the tools of one conversation share."""

from __future__ import annotations

from dataclasses import dataclass, field

from gemma_local.app.agent.budget import Budget
from gemma_local.app.agent.checkpoints import Checkpoints
from gemma_local.app.agent.files.seen import Seen
from gemma_local.app.agent.files.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Kit:
    """``checkpoints`` is None where what is changed can't be undone: nothing is kept then."""

    workspace: Workspace
    budget: Budget
    checkpoints: Checkpoints | None = None
    seen: Seen = field(default_factory=Seen)

"""What the person is asked before a tool runs, and what they answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gemma_local.app.agent.file_diff import FileDiff

Mode = Literal["plan", "ask", "edits", "auto"]
"""Only look; ask before every change; edit files without asking; run commands without, too."""

MODES: tuple[Mode, ...] = ("ask", "edits", "auto", "plan")
"""In the order in which a key goes through them."""

Scope = Literal["once", "session", "always", "no"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """Something that needs consent.

    ``why`` says why it is asked although the mode might allow it ("deletes files"), empty if that
    goes without saying. ``always`` is the rule that would be kept, such as "run: pytest *", empty
    if there can be none; then neither "session" nor "always" is offered.
    """

    id: str
    tool: str
    title: str
    command: str = ""
    folder: str = ""
    diff: FileDiff | None = None
    why: str = ""
    always: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The person's answer; ``reason`` is for the model, when the answer is no."""

    scope: Scope
    reason: str = ""

    @property
    def is_yes(self) -> bool:
        return self.scope != "no"

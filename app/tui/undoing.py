"""Taking back what the model did to files: shown first, and done when the person agrees."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gemma_local.app.agent.consent import Proposal, Verdict

if TYPE_CHECKING:
    from gemma_local.app.agent.checkpoints import Restoration
    from gemma_local.app.agent.loop import Agent

NOTHING = "there is nothing to take back: no file was changed by a tool"
NOTHING_AGAIN = "there is nothing to do again"

Ask = Callable[[Proposal], Verdict]


def restore(agent: Agent, restoration: Restoration, what: str, ask: Ask) -> str:
    """Have it allowed and do it; a sentence about what was done. ``what`` begins the question.

    Raises NotRestored.
    """
    count = len(restoration.diffs)
    if not count:
        return "the files are as they should be already"
    only = restoration.diffs[0] if count == 1 else None
    why = ""
    if restoration.foreign:
        others = ", ".join(restoration.foreign)
        why = f"changed by somebody else since: {others}"
    proposal = Proposal(
        f"restore-{id(restoration)}",
        "files",
        f"{what} {restoration.diffs[0].path if only else f'{count} files'}",
        command="" if only else "\n".join(diff.path for diff in restoration.diffs),
        diff=only,
        why=why,
    )
    if not ask(proposal).is_yes:
        return "the files stay as they are"
    agent.restore(restoration, replace_foreign=bool(restoration.foreign))
    names = ", ".join(diff.path for diff in restoration.diffs)
    return f"restored: {names}"

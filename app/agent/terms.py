"""On which terms the model works: what the person has allowed, and how they are asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from gemma_local.app.agent.consent import Mode, Proposal, Verdict
from gemma_local.app.agent.permissions import Allowed, Asked, Denied, decide
from gemma_local.app.agent.rules import BadRule, Rules, remember
from gemma_local.app.agent.tool import Effect
from gemma_local.app.errors import BadSettings

Consent: TypeAlias = Callable[[Proposal], Verdict]
"""Asks the person and waits for the answer; a turn that is stopped meanwhile is answered "no"."""

HELPED_FROM: Final = 11_000_000_000
"""12B and larger: smaller models are not helped by having somebody to give orders to."""
MOST_CALLS: Final = 40
"""Calls in one turn, after which the person is asked whether it is to go on."""


@dataclass(slots=True)
class Terms:
    """``mode`` may be changed at any time, from any thread. ``consent`` is None where nobody can be
    asked. ``tools``: offer them where there is a project, always, or never. ``network``: commands
    in the sandbox may use it. Models of ``helped_from`` parameters or more may have helpers."""

    mode: Mode = "ask"
    rules: Rules = field(default_factory=Rules)
    consent: Consent | None = None
    tools: Literal["auto", "on", "off"] = "auto"
    most_calls: int = MOST_CALLS
    network: bool = False
    helped_from: int = HELPED_FROM

    def have_helpers(self, parameters: int) -> bool:
        """Whether a model of so many parameters may have helpers."""
        return self.tools != "off" and parameters >= self.helped_from


@dataclass(frozen=True, slots=True)
class Refused:
    """A call that must not be carried out, and the sentence for the model.

    ``nobody``: consent was needed, and nobody could be asked.
    """

    sentence: str
    by_person: bool = False
    nobody: bool = False


class Gate:
    """Lets calls through, or not."""

    def __init__(self, terms: Terms, on_problem: Callable[[str], None]) -> None:
        """``on_problem`` hears what went wrong with a rule that was to be kept."""
        self._terms = terms
        self._on_problem = on_problem

    def refusal(self, proposal: Proposal, effect: Effect) -> Refused | None:
        """Why a call must not be carried out, None if it may; the person may be asked.

        ``proposal`` is what they are asked with; its reason and its rule come from the decision.
        """
        terms = self._terms
        decision = decide(effect, terms.mode, terms.rules, is_interactive=terms.consent is not None)
        match decision:
            case Allowed():
                return None
            case Denied(sentence):
                asked = decide(effect, terms.mode, terms.rules)
                return Refused(sentence, nobody=isinstance(asked, Asked))
            case Asked(why, rule):
                return self._asked(proposal, why, rule)

    def _asked(self, proposal: Proposal, why: str, rule: str) -> Refused | None:
        assert self._terms.consent is not None
        shown = Proposal(
            proposal.id,
            proposal.tool,
            proposal.title,
            command=proposal.command,
            folder=proposal.folder,
            diff=proposal.diff,
            why=why,
            always=rule,
        )
        verdict = self._terms.consent(shown)
        if not verdict.is_yes:
            return Refused(_no(verdict.reason), by_person=True)
        if rule and verdict.scope in ("session", "always"):
            self._keep(rule, for_good=verdict.scope == "always")
        return None

    def _keep(self, rule: str, *, for_good: bool) -> None:
        try:
            self._terms.rules.allow(rule)
            if for_good:
                remember(rule)
        except (BadRule, BadSettings) as error:
            # What was asked for is allowed all the same; only the next time it is asked again.
            self._on_problem(f"the rule was not kept: {error}")


def _no(reason: str) -> str:
    if reason.strip():
        return f"The user said no: {reason.strip()}"
    return "The user said no. Do not do it in another way; ask what they want instead."

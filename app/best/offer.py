"""The best attempt, offered to the person."""

from __future__ import annotations

from dataclasses import dataclass, field

from gemma_local.app.agent.consent import Proposal, Verdict
from gemma_local.app.best.contest import Result
from gemma_local.app.best.words import headline


@dataclass(frozen=True, slots=True)
class Offer(Proposal):
    """Taking an attempt: the best one, or another that they look at. ``result`` has something to
    take."""

    result: Result = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class Picked(Verdict):
    """Yes, to the attempt ``number``."""

    number: int = 0


def offer_of(result: Result) -> Offer:
    """What is asked when the attempts are over."""
    why = "" if result.passing else f"{result.command} does not pass"
    return Offer(f"best-{id(result)}", "best", headline(result), why=why, result=result)

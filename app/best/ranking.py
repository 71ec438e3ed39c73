"""Which attempt is the best."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gemma_local.app.best.attempt import Outcome


@dataclass(frozen=True, slots=True)
class Place:
    """An attempt, and the numbers of all that came to the same changes, its own first."""

    outcome: Outcome
    numbers: tuple[int, ...]


def ranked(outcomes: Iterable[Outcome]) -> tuple[Place, ...]:
    """The best first: those that pass, of these the ones that changed something, of these the
    fewest lines, then the fewest tokens. Attempts with the same changes share a place."""
    places: dict[tuple[str, bool, str], list[Outcome]] = {}
    for outcome in sorted(outcomes, key=_rank):
        # One that failed has changed nothing, and is not like one that had nothing to change.
        key = (outcome.changes.digest, outcome.passes, outcome.problem)
        places.setdefault(key, []).append(outcome)
    return tuple(
        Place(group[0], tuple(outcome.number for outcome in group)) for group in places.values()
    )


def _rank(outcome: Outcome) -> tuple[bool, bool, bool, int, int, int]:
    return (
        not outcome.passes,
        not outcome.changes.files,
        # Of those that do not pass, rather one that came to its end.
        outcome.end != "answered" and not outcome.passes,
        outcome.lines,
        outcome.tokens,
        outcome.number,
    )

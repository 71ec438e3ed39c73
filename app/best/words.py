"""A contest's result in words and in plain values."""

from __future__ import annotations

from typing import Any, Final

from gemma_local.app.best.attempt import Outcome
from gemma_local.app.best.contest import Result
from gemma_local.app.terminal import table

_COLUMNS: Final = ("attempt", "files", "lines", "calls", "tokens", "seconds", "judged")
_ENDS: Final = {
    "loop": "went round in circles",
    "limit": "made as many calls as it may",
    "cut": "was cut off",
    "nan": "broke off",
}


def overview(result: Result) -> str:
    """A table with a line for each attempt, the best first."""
    rows = [
        _row(outcome, place.numbers)
        for place in result.places
        for outcome in _of(result, place.numbers)
    ]
    # Words are read from the left; and what is too long for a screen is cut at the end.
    width = max(len(row[-1]) for row in (_COLUMNS, *rows))
    header, *lines = ((*row[:-1], row[-1].ljust(width)) for row in (_COLUMNS, *rows))
    return table(header, lines)


def headline(result: Result) -> str:
    """How many pass, and which is the best."""
    count = len(result.outcomes)
    best = result.best
    if best is None:
        first = result.places[0].outcome
        if first.passes:
            return f"nothing to take: {result.command} passes although nothing was changed"
        return f"none of {count} attempts changed anything"
    if not result.passing:
        return f"none of {count} attempts passes; number {best.number} comes nearest"
    words = (
        f"{result.passing} of {count} attempts pass"
        if result.passing > 1
        else (f"1 of {count} attempts passes")
    )
    agree = len(result.place_of(best.number).numbers)
    also = f", and {agree} of {count} came to the same changes" if agree > 1 else ""
    return f"{words}; number {best.number} is the best{also}"


def speed_line(result: Result) -> str:
    """What all of it took."""
    return f"{result.seconds:.0f} s, {result.tokens_per_second:.1f} tokens/s together"


def failures(result: Result) -> str:
    """Why those that do not pass do not, with the last lines of the command's output."""
    parts = []
    for outcome in result.outcomes:
        if outcome.passes:
            continue
        how = outcome.problem or (outcome.judged.how if outcome.judged is not None else "")
        lines = outcome.judged.last.split("\n") if outcome.judged is not None else []
        parts.append(
            "\n".join(
                [f"attempt {outcome.number}: {how}", *(f"  {line}" for line in lines if line)]
            )
        )
    return "\n".join(parts)


def done_line(result: Result, outcome: Outcome) -> str:
    """What was done, for the model and the person to read later."""
    files = ", ".join(
        f"{change.path} +{change.counts[0]} -{change.counts[1]}" for change in outcome.changes.files
    )
    verdict = "passes" if outcome.passes else "does not pass"
    return (
        f"[Attempt {outcome.number} of {len(result.outcomes)} was taken: {files}. "
        f"`{result.command}` {verdict}.]"
    )


def as_json(result: Result, taken: int | None) -> dict[str, Any]:
    """Plain values; ``taken`` is the number of the attempt that was taken."""
    best = result.best
    return {
        "task": result.wish.task,
        "judge": result.command,
        "best": best.number if best is not None else None,
        "passes": best is not None and best.passes,
        "taken": taken,
        "agree": len(result.place_of(best.number).numbers) if best is not None else 0,
        "text": best.report if best is not None else "",
        "diff": best.changes.unified() if best is not None else "",
        "attempts": [_attempt(outcome, result) for outcome in result.outcomes],
        "seconds": round(result.seconds, 3),
        "tokens_per_second": round(result.tokens_per_second, 3),
    }


def _of(result: Result, numbers: tuple[int, ...]) -> list[Outcome]:
    return [
        outcome for number in numbers for outcome in result.outcomes if outcome.number == number
    ]


def _row(outcome: Outcome, numbers: tuple[int, ...]) -> tuple[str, ...]:
    added, removed = outcome.changes.counts
    same = "" if outcome.number == numbers[0] else f", as {numbers[0]}"
    return (
        str(outcome.number),
        str(len(outcome.changes.files)),
        f"+{added} -{removed}",
        str(outcome.calls),
        f"{outcome.tokens:,}",
        f"{outcome.seconds:.1f}",
        _verdict(outcome) + same,
    )


def _verdict(outcome: Outcome) -> str:
    if outcome.judged is None:
        return "failed"
    verdict = "passes" if outcome.passes else outcome.judged.how
    if not outcome.changes.files:
        return f"{verdict}, changed nothing"
    return ", ".join(filter(None, [verdict, _ENDS.get(outcome.end, "")]))


def _attempt(outcome: Outcome, result: Result) -> dict[str, Any]:
    judged = outcome.judged
    return {
        "number": outcome.number,
        "seed": outcome.seed,
        "turn": outcome.end,
        "passes": outcome.passes,
        "judged": judged.how if judged is not None else None,
        "output": judged.last if judged is not None else "",
        "problem": outcome.problem,
        "files": [
            {"path": change.path, "added": change.counts[0], "removed": change.counts[1]}
            for change in outcome.changes.files
        ],
        "left_out": list(outcome.changes.left_out),
        "same_as": [n for n in result.place_of(outcome.number).numbers if n != outcome.number],
        "calls": outcome.calls,
        "tokens": outcome.tokens,
        "prefilled_tokens": outcome.read,
        "seconds": round(outcome.seconds, 3),
        "text": outcome.report,
    }

"""How many sequences to decode at once where only the sum of their speeds matters.

A row more is cheaper than a pass more, so several answers together come faster than one after the
other: on GPUs nearly as many times as there are, on CPUs less, of a mixture of experts with what
its rows have in common. Reading prompts gains nothing. So it depends on the work as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from gemma_local.engine.hardware.machine import Machine
from gemma_local.engine.plan.candidate import Candidate
from gemma_local.engine.plan.choice import CorrectionOf, SizePlan, plan_one, threads_of
from gemma_local.engine.plan.forecast import (
    ACCEPTANCE,
    draft_seconds,
    pass_seconds,
    tokens_per_pass,
)
from gemma_local.engine.plan.settings import Wishes
from gemma_local.engine.plan.speeds import speeds_of

COUNTS: Final = (1, 2, 4, 8)
LEAST_GAIN: Final = 1.15
"""The whole work must become so many times faster for more sequences to be worth their memory and
the longer wait for each answer."""


@dataclass(frozen=True, slots=True)
class Work:
    """Many prompts and answers, in tokens: of the usual one, and the context that each must fit
    into. ``requests`` is how many there are, 0 if that is not known."""

    prompt: int
    answer: int
    context: int
    requests: int = 0


@dataclass(frozen=True, slots=True)
class Parallel:
    """The plan for the best number of sequences, and why it is that one."""

    planned: SizePlan
    why: str


def plan_parallel(
    machine: Machine,
    candidate: Candidate,
    wishes: Wishes,
    work: Work,
    *,
    bandwidth: float | None = None,
    correction: CorrectionOf | None = None,
) -> Parallel:
    """The number of sequences that gets ``work`` done fastest, within the memory there is.

    ``wishes.sequences`` and ``wishes.context`` are honoured; other arguments and errors as for
    `plan_one`.
    """
    wishes = replace(wishes, context=wishes.context or work.context)
    most = work.requests or COUNTS[-1]
    counts = (wishes.sequences,) if wishes.sequences else [n for n in COUNTS if n <= most]
    tried: list[tuple[float, float, SizePlan]] = []
    why = ""
    for count in counts:
        asked = replace(wishes, sequences=count)
        planned = plan_one(machine, candidate, asked, bandwidth=bandwidth, correction=correction)
        if not tried and planned.fitting is None:
            return Parallel(planned, "")
        if planned.fitting is None or (tried and _kv(planned) != _kv(tried[0][2])):
            # Not at the price of another cache either.
            why = f"; there is no memory for {count}"
            break
        speed = _speed(machine, planned, wishes, work, bandwidth)
        assert planned.forecast is not None
        seconds = work.prompt / planned.forecast.prefill.expected + work.answer / speed
        tried.append((seconds, speed, planned))
    best = tried[0]
    for one in tried[1:]:
        if best[0] / one[0] >= LEAST_GAIN:
            best = one
    if len(tried) > 1 and not why and best is not tried[-1]:
        why = "; with more the work would be done hardly sooner"
    return Parallel(best[2], f"about {best[1]:.0f} tokens/s in all{why}")


def _kv(planned: SizePlan) -> str:
    return planned.settings.kv_type if planned.settings is not None else ""


def _speed(
    machine: Machine, planned: SizePlan, wishes: Wishes, work: Work, bandwidth: float | None
) -> float:
    """Tokens a second of all sequences together, with drafts or without, whichever is faster."""
    candidate, fitting, forecast = planned.candidate, planned.fitting, planned.forecast
    assert fitting is not None and forecast is not None and planned.raw is not None
    settings, share = fitting.settings, fitting.share
    count = settings.sequences
    if count == 1:
        return forecast.decode.expected
    speeds = speeds_of(machine, fitting.device, threads_of(machine, wishes), bandwidth)
    cached = work.prompt + work.answer // 2
    each = draft_seconds(candidate, speeds, share > 0.5)

    def speed(draft: int) -> float:
        rows = count * (draft + 1)
        seconds = pass_seconds(candidate, settings, share, speeds, rows, cached, count)
        return count * tokens_per_pass(ACCEPTANCE["chat"], draft) / (seconds + draft * each)

    known = forecast.plain.expected / planned.raw.plain.expected
    return known * max(speed(draft) for draft in range(settings.draft + 1))

"""What ``gemma-local bench`` found out, as numbers, as JSON and as a table."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gemma_local.app.bench_drafting import drafting_text
from gemma_local.app.drafting_report import drafting_keys
from gemma_local.app.options import BenchOptions
from gemma_local.app.tallies import add
from gemma_local.app.terminal import table
from gemma_local.engine.messages import Ready, Tally

PLAIN: Final = "plain"
AUTO: Final = "auto"
ALL: Final = "all"

Tallies = dict[tuple[str, str], list[Tally]]
"""By kind of prompt and name of the arm: one tally a run."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to decode: ``draft`` tokens at a time, None is the engine's choice."""

    name: str
    draft: int | None


@dataclass(frozen=True, slots=True)
class Result:
    """One arm on one kind of prompt: its runs, and the plain run next to each."""

    kind: str
    arm: Arm
    runs: tuple[Tally, ...]
    plain: tuple[Tally, ...]

    @property
    def total(self) -> Tally:
        """All runs together."""
        return add(self.runs)

    @property
    def speed(self) -> float:
        """Median decode speed in tokens per second."""
        return statistics.median(run.tokens_per_second for run in self.runs)

    @property
    def ratio(self) -> float | None:
        """Median of the speed over that of plain decoding in the same run."""
        pairs = zip(self.runs, self.plain, strict=True)
        ratios = [a.tokens_per_second / b.tokens_per_second for a, b in pairs if b.decode_seconds]
        return statistics.median(ratios) if ratios else None

    @property
    def prefill_speed(self) -> float | None:
        """Median speed of reading the prompt in tokens per second."""
        speeds = [r.prefilled_tokens / r.prefill_seconds for r in self.runs if r.prefill_seconds]
        return statistics.median(speeds) if speeds else None

    @property
    def outside(self) -> float | None:
        """Share of decode time that was not spent inside llama.cpp, 0 to 1."""
        total = self.total
        return 1 - total.llama_seconds / total.decode_seconds if total.decode_seconds else None


def summarise(arms: list[Arm], kinds: list[str], tallies: Tallies) -> list[Result]:
    """Arm by arm for each kind, and for all kinds together when there are several."""
    if len(kinds) > 1:
        for arm in arms:
            columns = zip(*(tallies[kind, arm.name] for kind in kinds), strict=True)
            tallies[ALL, arm.name] = [add(column) for column in columns]
        kinds = [*kinds, ALL]
    return [
        Result(kind, arm, tuple(tallies[kind, arm.name]), tuple(tallies[kind, PLAIN]))
        for kind in kinds
        for arm in arms
    ]


def as_json(ready: Ready, options: BenchOptions, results: list[Result]) -> Mapping[str, object]:
    """What ``--json`` prints; speeds are in tokens per second, shares from 0 to 1.

    ``sources`` and ``pace`` are as in `drafting_report`, over all runs.
    """
    return {
        "model": ready.target,
        "drafter": ready.drafter,
        "context": ready.context,
        "threads": ready.threads,
        "backend": ready.backend,
        "exact_mode": options.exact,
        "tokens": options.tokens,
        "repeat": options.repeat,
        "results": [
            {
                "kind": result.kind,
                "arm": result.arm.name,
                "draft": result.arm.draft,
                "tokens_per_second": result.speed,
                "ratio": result.ratio,
                "acceptance": result.total.acceptance,
                "tokens_per_pass": result.total.tokens_per_pass,
                "prefill_tokens_per_second": result.prefill_speed,
                "outside_llama": result.outside,
                "drafted_by_position": list(result.total.drafted_by_position),
                "accepted_by_position": list(result.total.accepted_by_position),
                **drafting_keys(result.total),
                "prompt_tokens": result.total.prompt_tokens,
                "prefilled_tokens": result.total.prefilled_tokens,
                "runs": [run.tokens_per_second for run in result.runs],
            }
            for result in results
        ],
    }


def as_text(ready: Ready, results: list[Result]) -> str:
    """The tables that a person reads."""
    header = (
        *("kind", "draft", "tokens/s", "to plain", "acceptance", "tokens/pass"),
        *("prefill tokens/s", "outside llama.cpp"),
    )
    rows = [
        (
            result.kind,
            result.arm.name,
            f"{result.speed:.1f}",
            _shown(result.ratio, "{:.2f}x"),
            _shown(result.total.acceptance, "{:.0%}"),
            _shown(result.total.tokens_per_pass, "{:.2f}"),
            _shown(result.prefill_speed, "{:.0f}"),
            _shown(result.outside, "{:.1%}"),
        )
        for result in results
    ]
    best = max(results[-len({r.arm for r in results}) :], key=lambda result: result.speed)
    parts = (
        f"{ready.name}, threads: {ready.threads}, context: {ready.context}",
        table(header, rows),
        drafting_text([(result.kind, result.ratio, result.total) for result in results]),
        f"fastest: {best.arm.name}, {best.speed:.1f} tokens/s",
    )
    return "\n\n".join(part for part in parts if part)


def _shown(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)

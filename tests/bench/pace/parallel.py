"""Several sequences in one batch: what they yield together, and that each says what it would have
said alone."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import mean, median

from gemma_local.app.terminal import progress
from gemma_local.engine.client import Engine, EngineFailed, new_id
from gemma_local.engine.messages import Done, Failed, Generate, Load, Sampling
from gemma_local.models.prompt import Prompt
from tests.bench.budget import Budget

_ARMS = (0, None)
"""Draft lengths: plain, and the engine's choice."""


@dataclass
class Together:
    """Total speeds of so many sequences in tokens a second, round by round, and whether each said
    what it says alone."""

    sequences: int
    are_exact: bool
    speeds: dict[int | None, list[float]] = field(default_factory=dict)
    equal: list[bool] = field(default_factory=list)

    def row(self, alone: Together) -> tuple[str, ...]:
        """Of the table with `HEADER`."""
        plain, auto = (median(self.speeds[arm]) for arm in _ARMS)
        base_plain, base_auto = (median(alone.speeds[arm]) for arm in _ARMS)
        return (
            str(self.sequences),
            f"{plain:.1f}",
            f"{plain / base_plain:.2f}x",
            f"{auto:.1f}",
            f"{auto / base_auto:.2f}x",
            f"{auto / plain:.2f}x",
            f"{sum(self.equal)} of {len(self.equal)}",
        )

    def budgets(self) -> Iterator[Budget]:
        name = f"{self.sequences} sequences: texts equal to those alone"
        # Only promised where the number of rows cannot change a bit.
        limit = 1.0 if self.are_exact else None
        yield Budget(name, [mean(self.equal)], "", limit, is_floor=True)


HEADER = ("sequences", "plain", "to one", "auto", "to one", "auto to plain", "texts equal")


def measure(
    load: Load,
    prompts: Sequence[Prompt],
    log: Path,
    *,
    counts: Sequence[int],
    tokens: int,
    rounds: int,
    exact: bool | None,
) -> list[Together]:
    """Ask ``prompts`` in one engine for each of ``counts`` sequences, in another order each round.

    The time goes from the first request to the last token, reading the prompts included.
    """
    found = {count: Together(count, exact is True) for count in counts}
    alone: dict[tuple[int, int | None], tuple[int, ...]] = {}
    for number in range(rounds):
        turn = number * len(counts) // rounds
        # One first: what is said alone is the measure.
        order = [counts[0], *counts[1:][turn:], *counts[1:][:turn]]
        for count in order:
            progress.show(f"round {number + 1} of {rounds}: {count} sequences")
            with Engine(log) as engine:
                engine.start(replace(load, sequences=count))
                for arm in _ARMS if number % 2 else _ARMS[::-1]:
                    asked = [_request(prompt, tokens, arm, exact) for prompt in prompts]
                    began = time.perf_counter()
                    dones = _ask(engine, asked, count)
                    seconds = time.perf_counter() - began
                    total = sum(len(done.tokens) for done in dones)
                    found[count].speeds.setdefault(arm, []).append(total / seconds)
                    for place, done in enumerate(dones):
                        said = alone.setdefault((place, arm), done.tokens)
                        found[count].equal.append(done.tokens == said)
    progress.clear()
    return list(found.values())


def _request(prompt: Prompt, tokens: int, draft: int | None, exact: bool | None) -> Generate:
    greedy = Sampling(temperature=0.0, seed=0)
    return Generate(
        new_id(), prompt, greedy, max_tokens=tokens, draft=draft, exact=exact, ignore_end=True
    )


def _ask(engine: Engine, requests: Sequence[Generate], count: int) -> list[Done]:
    """The ends of all requests, so many at a time."""

    def one(request: Generate) -> Done:
        for event in engine.generate(request):
            match event:
                case Failed():
                    raise EngineFailed(event.message)
                case Done():
                    return event
        raise AssertionError("a request ends with Done or Failed")

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, requests))

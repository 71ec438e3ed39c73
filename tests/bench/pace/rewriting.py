"""Answers that repeat their prompt: what prompt lookup and the drafter make of them together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import mean

from gemma_local.app.drafting_report import drafting_lines
from gemma_local.app.prompts import prompt_writer
from gemma_local.app.tallies import add
from gemma_local.app.terminal import progress
from gemma_local.engine.encoding import Encoder
from gemma_local.engine.messages import Tally
from gemma_local.models.message import Message
from gemma_local.models.target import TargetFacts
from tests.bench.budget import Budget
from tests.bench.pace.coins import toss
from tests.bench.pace.rewritten import changed, fenced, file, question
from tests.bench.pace.rig import Rig

_OF_PLAIN = 1.8
"""What is promised of a file with three changes."""
_ACCEPTANCE = 0.8
"""Of the drafter's tokens."""
_REPEAT = "Repeat this file exactly, character by character."


@dataclass(frozen=True)
class Rewriting:
    """Speeds round by round, in tokens a second, and the automatic runs."""

    name: str
    plain: list[float]
    auto: list[float]
    tallies: list[Tally]
    equal: list[bool]
    limit: float | None = None
    are_exact: bool = False

    def budgets(self) -> Iterator[Budget]:
        ratios = [a / b for a, b in zip(self.auto, self.plain, strict=True)]
        yield Budget(f"{self.name}: auto to plain", ratios, "x", self.limit, is_floor=True)
        yield Budget("  plain", self.plain, "t/s")
        yield Budget("  auto", self.auto, "t/s")
        # Only promised where the number of rows cannot change a bit.
        limit = 1.0 if self.are_exact else None
        yield Budget("  texts equal", [mean(self.equal)], "", limit, is_floor=True)

    def lines(self) -> list[str]:
        """What the drafts were."""
        return drafting_lines(add(self.tallies))


def dictated(rig: Rig, facts: TargetFacts, *, lines: int, rounds: int, passes: int) -> Rewriting:
    """The changed file is dictated. Plain decoding is measured for some passes: at the beginning,
    before the automatic run, and after it at the end, where with more in the cache it is slower."""
    before = file(lines)
    prompt = _prompt(rig, facts, question(before))
    said = Encoder(rig.vocabulary).text_ids(fenced(changed(before)))
    name = f"rewriting {len(before)} lines, {len(said)} tokens"
    found = Rewriting(name, [], [], [], [], _OF_PLAIN, are_exact=rig.exact is True)
    rig.read(prompt)
    for number in range(rounds):
        progress.show(f"round {number + 1} of {rounds}: {name}")
        coins = toss((_ACCEPTANCE,), len(said), number)
        first = rig.dictate(prompt, said, coins, 0, passes=passes)
        auto = rig.dictate(prompt, said, coins, None)
        late = len(said) - passes - 1
        begun = [*prompt, *said[:late]]
        rig.read(begun)
        last = rig.dictate(begun, said[late:], coins.after(late), 0, passes=passes)
        found.plain.append(1 / mean((first.seconds_per_pass, last.seconds_per_pass)))
        found.auto.append(auto.tally.tokens_per_second)
        found.tallies.append(auto.tally)
        found.equal.append(list(auto.said) == said and not _differ(first.own, auto.own))
    progress.clear()
    return found


def answered(rig: Rig, facts: TargetFacts, *, lines: int, rounds: int, tokens: int) -> Rewriting:
    """A real model repeats a file, in its own words."""
    prompt = _prompt(rig, facts, question(file(lines), _REPEAT))
    name = f"{facts.name} repeats {lines} lines"
    found = Rewriting(name, [], [], [], [], are_exact=rig.exact is True)
    rig.read(prompt)
    for number in range(rounds):
        progress.show(f"round {number + 1} of {rounds}: {name}")
        arms = (0, None) if number % 2 else (None, 0)
        runs = {arm: rig.answer(prompt, tokens, arm) for arm in arms}
        found.plain.append(runs[0].tally.tokens_per_second)
        found.auto.append(runs[None].tally.tokens_per_second)
        found.tallies.append(runs[None].tally)
        found.equal.append(runs[0].said == runs[None].said)
    progress.clear()
    return found


def _differ(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    return sum(a != b for a, b in zip(one, other, strict=False))


def _prompt(rig: Rig, facts: TargetFacts, text: str) -> list[int]:
    written = prompt_writer(facts).write([Message("user", text)]).prompt
    return Encoder(rig.vocabulary).ids(written)

"""Texts at whose every place it is decided in advance whether a draft is right.

A fixed length costs the same whatever is right, so its seconds a pass are measured on some passes,
before the automatic run at the beginning of the text and after it at the end, where more is in the
cache and each pass takes longer; how many passes the whole text takes is counted. The automatic run
decodes the whole text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import mean, median
from typing import Final

from gemma_local.app.drafting_report import parked_share
from gemma_local.app.tallies import add
from gemma_local.app.terminal import progress
from gemma_local.engine.messages import Tally
from tests.bench.budget import Budget
from tests.bench.pace.coins import toss
from tests.bench.pace.dictated import random_text
from tests.bench.pace.rig import Outcome, Rig

PROMPT: Final = 16
"""Tokens."""
_OF_BEST, _OF_BEST_SWITCHING, _OF_PLAIN, _MILLISECONDS = 0.97, 1.05, 0.97, 0.2
"""What is promised."""


@dataclass(frozen=True)
class Plan:
    """How much is measured: texts by their acceptance part by part, and tokens of a part.

    ``passes`` are measured of the longest fixed length before and after each automatic run; of the
    shorter ones as many as have as many rows, which takes about as long.
    """

    texts: tuple[tuple[float, ...], ...]
    lengths: tuple[int, ...] = (1, 2, 3, 4, 6, 8)
    tokens: int = 160
    part: int = 60
    rounds: int = 2
    passes: int = 4
    informs: bool = True


@dataclass
class Text:
    """What one text took by draft length, 0 is plain: seconds a pass, and passes, each round.

    ``auto`` are speeds in tokens a second; ``best`` is the fixed length that was fastest, told from
    what passes took on all texts: the fastest of a few measurements is fast by luck, too.
    """

    acceptance: tuple[float, ...]
    seconds: dict[int, list[float]] = field(default_factory=dict)
    passes: dict[int, list[int]] = field(default_factory=dict)
    decoded: int = 0
    auto: list[float] = field(default_factory=list)
    tallies: list[Tally] = field(default_factory=list)
    best: int = 0
    compared: int = 0
    differing: int = 0
    said_all: bool = True

    @property
    def name(self) -> str:
        return "switching" if self.switches else f"{self.acceptance[0]:g}"

    @property
    def switches(self) -> bool:
        return len(self.acceptance) > 1

    def speeds(self, length: int) -> list[float]:
        """Tokens a second at a fixed length, round by round."""
        pairs = zip(self.seconds[length], self.passes[length], strict=True)
        return [self.decoded / (seconds * passes) for seconds, passes in pairs]

    def ratios(self, length: int) -> list[float]:
        """The automatic speed over that of a fixed length, round by round."""
        return [a / b for a, b in zip(self.auto, self.speeds(length), strict=True)]

    @property
    def milliseconds(self) -> list[float]:
        """Spent deciding, a pass."""
        found = [(t.pace.seconds, t.passes) for t in self.tallies if t.pace is not None]
        return [1e3 * seconds / passes for seconds, passes in found] or [0.0]

    @property
    def total(self) -> Tally:
        return add(self.tallies)

    def budgets(self) -> Iterator[Budget]:
        """What is promised of it."""
        best = _OF_BEST_SWITCHING if self.switches else _OF_BEST
        name = f"acceptance {self.name}: auto"
        yield Budget(f"{name} to the best fixed ({self.best})", self.ratios(self.best), "x", best,
                     is_floor=True)  # fmt: skip
        yield Budget(f"{name} to plain", self.ratios(0), "x", _OF_PLAIN, is_floor=True)
        yield Budget(f"{name}, deciding", self.milliseconds, "ms", _MILLISECONDS)

    def row(self) -> tuple[str, ...]:
        """Of the table with `header`."""
        total = self.total
        parked = parked_share(total.pace) if total.pace is not None else 0.0
        return (
            self.name,
            *(f"{median(self.speeds(length)):.1f}" for length in sorted(self.seconds)),
            f"{median(self.auto):.1f}",
            f"{total.tokens_per_pass or 0:.2f}",
            f"{total.acceptance or 0:.0%}",
            f"{parked:.0%}",
            ("equal" if not self.differing else f"{self.differing} of {self.compared} differ")
            if self.said_all
            else "CUT SHORT",
        )


def header(lengths: Sequence[int]) -> tuple[str, ...]:
    """Of the table: speeds in tokens a second, then of the automatic runs."""
    fixed = ("plain", *map(str, lengths))
    return ("accepted", *fixed, "auto", "tokens/pass", "acceptance", "parked", "own choices")


def measure(rig: Rig, plan: Plan) -> list[Text]:
    """Run everything, interleaved, in another order each round."""
    texts = [Text(acceptance) for acceptance in plan.texts]
    for number in range(plan.rounds):
        turn = number * len(texts) // plan.rounds
        for text in [*texts[turn:], *texts[:turn]]:
            progress.show(f"round {number + 1} of {plan.rounds}: acceptance {text.name}")
            _round(rig, plan, text, number)
    progress.clear()
    for text in texts:
        text.best = _best(text, texts)
    return texts


def _best(text: Text, texts: Sequence[Text]) -> int:
    """The fixed length at which the text would have taken the least time."""

    def seconds(length: int) -> float:
        a_pass = median(taken for other in texts for taken in other.seconds[length])
        return a_pass * sum(text.passes[length])

    return min(text.seconds, key=seconds)


def _round(rig: Rig, plan: Plan, text: Text, number: int) -> None:
    part = plan.part if text.switches else plan.tokens
    coins = toss(text.acceptance, part, number, informs=plan.informs)
    words = random_text(rig.vocabulary, PROMPT + len(coins.right), number)
    prompt, said = words[:PROMPT], words[PROMPT:]
    lengths = [0, *plan.lengths]
    turn = number * len(lengths) // plan.rounds
    lengths = [*lengths[turn:], *lengths[:turn]]
    outcomes: dict[int, list[Outcome]] = {length: [] for length in lengths}

    rows = plan.passes * (max(lengths) + 1)

    def measure_fixed(order: Sequence[int], at: int) -> None:
        begun, rest = [*prompt, *said[:at]], said[at:]
        rig.read(begun)
        for length in order:
            passes = rows // (length + 1)
            run = rig.dictate(begun, rest, coins.after(at), length, passes=passes)
            outcomes[length].append(run)

    # So that even drafts that are right throughout still fit in there.
    late = max(0, len(said) - rows - 1)
    measure_fixed(lengths, 0)
    auto = rig.dictate(prompt, said, coins, None)
    measure_fixed(lengths[::-1], late)
    for length, runs in outcomes.items():
        text.seconds.setdefault(length, []).append(mean(run.seconds_per_pass for run in runs))
        text.passes.setdefault(length, []).append(coins.passes(length))
        for run, at in zip(runs, (0, late), strict=True):
            _compare(text, run.own, auto.own[at:])
    text.decoded = len(said) - 1
    text.auto.append(auto.tally.tokens_per_second)
    text.tallies.append(auto.tally)
    text.said_all &= list(auto.said) == said


def _compare(text: Text, one: Sequence[int], other: Sequence[int]) -> None:
    """Count where the model itself would have chosen differently."""
    pairs = list(zip(one, other, strict=False))
    text.compared += len(pairs)
    text.differing += sum(a != b for a, b in pairs)

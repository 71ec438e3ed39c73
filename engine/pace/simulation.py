"""The controller at work on a profile: its own classes, with made-up passes on a made-up clock.

What is drawn for a token does not depend on how it is decoded, so that all arms see the same text:
whether the drafter would be right about it, how sure it would say it is, and whether the text
repeats something there. Speeds count passes at what they take on average; only what the controller
sees of them is noisy, so that arms differ by what they do and not by luck.
"""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from gemma_local.engine.commands import LOOKUP_MAX
from gemma_local.engine.pace.pace import Pace
from gemma_local.engine.pace.profile import Profile, Stretch
from gemma_local.engine.pace.step import Step
from gemma_local.engine.pace.tracker import Seat

_LONGEST_MATCH = 64
_WRONG = -1
_BEYOND = 64
"""Tokens that a draft may look ahead at the end."""


@dataclass(frozen=True, slots=True)
class Token:
    """One token of a text, as the drafters see it.

    ``luck`` is below the chance of a token that the drafter gets right. ``match`` is the length
    of the match that lookup finds before it, and ``is_copy`` whether it is what follows there.
    """

    chance: float
    fading: float
    luck: float
    confidence: float
    match: int
    is_copy: bool


class Text:
    """All tokens of some stretches, for one sequence; ``confidence``: whether what the drafter
    states of a token tells how easy it is."""

    def __init__(self, stretches: Sequence[Stretch], confidence: bool, seed: int) -> None:
        draw = random.Random(seed)
        self.tokens: list[Token] = []
        run = 0
        kinds = [stretch for stretch in stretches for _ in range(stretch.tokens)]
        for stretch in [*kinds, *[stretches[-1]] * _BEYOND]:
            is_copy = stretch.fresh > 0 and draw.random() >= 1.0 / stretch.fresh
            match = min(run, _LONGEST_MATCH) if run >= 3 else 0
            if not is_copy and not match and draw.random() < stretch.false_matches:
                match = draw.choice((3, 3, 4, 5))
            run = run + 1 if is_copy else 0
            chance = _chance(stretch, draw)
            stated = chance**0.7 if confidence else 0.9
            stated = min(max(stated + draw.gauss(0.0, 0.06), 0.01), 0.999)
            self.tokens.append(Token(chance, stretch.fading, draw.random(), stated, match, is_copy))

    def drafted(self, index: int, place: int) -> int:
        """What the drafter makes of the token ``index`` at a place in its draft."""
        token = self.tokens[min(index, len(self.tokens) - 1)]
        is_right = token.luck < token.chance * token.fading**place
        return index if is_right else _WRONG

    def continuation(self, index: int, count: int) -> list[int]:
        """What lookup finds to follow from the token ``index`` on."""
        ahead = self.tokens[index : index + count]
        return [index + n if token.is_copy else _WRONG for n, token in enumerate(ahead)]


@functools.lru_cache(maxsize=32)
def _text(stretches: tuple[Stretch, ...], confidence: bool, seed: int) -> Text:
    """All arms decode the same one."""
    return Text(stretches, confidence, seed)


def _chance(stretch: Stretch, draw: random.Random) -> float:
    """An easy token's chance or a hard one's; on average that of the stretch."""
    mean, spread = stretch.acceptance, stretch.spread
    easy, hard = mean + (1.0 - mean) * spread, mean * (1.0 - spread)
    share = (mean - hard) / (easy - hard) if easy > hard else 1.0
    return easy if draw.random() < share else hard


@dataclass(slots=True)
class Outcome:
    """What one arm came to."""

    tokens: int = 0
    seconds: float = 0.0
    passes: int = 0
    drafted: int = 0
    accepted: int = 0
    parked: int = 0
    controller_seconds: float = 0.0
    lengths: list[int] = field(default_factory=lambda: [0] * (LOOKUP_MAX + 2))
    course: list[tuple[int, int]] = field(default_factory=list)
    """Index of the first token and length of the draft of each pass of the first sequence."""
    asked: list[tuple[int, int]] = field(default_factory=list)
    """The same with how many tokens the drafter made, checked or not."""

    @property
    def speed(self) -> float:
        """Tokens a second."""
        return self.tokens / self.seconds if self.seconds else 0.0


def simulate(
    profile: Profile, draft: int | None, *, seed: int = 1, pace: Pace | None = None
) -> Outcome:
    """Decode the text of a profile at a fixed draft length, or as pace has it (None).

    ``pace`` may know something from earlier runs.
    """
    if pace is None:
        pace = new_pace(profile)
    return _Run(profile, draft, pace, seed).run()


def new_pace(profile: Profile) -> Pace:
    """One that knows nothing yet."""
    return Pace(
        draft_max=profile.draft_max if profile.drafted_token else 0,
        lookup_max=LOOKUP_MAX if profile.lookup else 0,
        most_rows=max(profile.most_rows, profile.sequences * (profile.draft_max + 1)),
    )


class _Run:
    def __init__(self, profile: Profile, draft: int | None, pace: Pace, seed: int) -> None:
        self._profile = profile
        self._draft = draft
        self._pace = pace
        self._texts = [
            _text(profile.stretches, profile.confidence, seed + 1000 * n)
            for n in range(profile.sequences)
        ]
        self._at = [0] * profile.sequences
        self._trackers = [pace.track() for _ in self._texts]
        self._draw = random.Random(seed + 1)
        self._outcome = Outcome()

    def run(self) -> Outcome:
        while max(self._at) < self._profile.tokens:
            self._step()
        for tracker in self._trackers:
            self._outcome.parked += tracker.parked
            self._outcome.controller_seconds += tracker.seconds
        return self._outcome

    def _step(self) -> None:
        if self._draft is not None:
            self._step_fixed(self._draft)
            return
        profile, out = self._profile, self._outcome
        seats = [self._seat(i) for i in range(profile.sequences)]
        step = self._pace.plan(seats, threads=2, context=profile.context + self._at[0])
        made = self._make(step)
        rounds = max(
            (len(step.begun(i)) + len(own) for i, own in enumerate(made) if own), default=0
        )
        drafts = step.settle(made)
        rows = self._rows(drafts)
        drafting, verifying = self._seconds(rounds, rows)
        out.seconds += drafting + verifying
        out.course.append((self._at[0], len(drafts[0])))
        out.asked.append((self._at[0], len(made[0])))
        emitted = [self._verify(i, draft) for i, draft in enumerate(drafts)]
        # What it sees of it.
        drafting, verifying = drafting * self._noise(), verifying * self._noise()
        self._pace.learn(step, emitted, [(rows, verifying)], drafting)

    def _step_fixed(self, length: int) -> None:
        """A step as it is without a controller."""
        profile, out = self._profile, self._outcome
        length = min(length, profile.most_rows - 1) if profile.drafted_token else 0
        drafts = [[text.drafted(at + n, n) for n in range(length)] for text, at in self._places()]
        out.seconds += sum(self._seconds(length, self._rows(drafts)))
        for i, draft in enumerate(drafts):
            self._verify(i, draft)

    def _places(self) -> list[tuple[Text, int]]:
        return list(zip(self._texts, self._at, strict=True))

    def _seat(self, i: int) -> Seat:
        profile, at = self._profile, self._at[i]
        room = profile.most_rows - 1
        seat = Seat(self._trackers[i], room, block=profile.block, slot=i)
        token = self._texts[i].tokens[at]
        if profile.lookup and token.match:
            seat.match = token.match
            seat.continuation = self._texts[i].continuation(at, min(LOOKUP_MAX, room))
        return seat

    def _make(self, step: Step) -> list[list[int]]:
        made: list[list[int]] = [[] for _ in self._texts]
        if not self._profile.drafted_token:
            return made
        for i, length in enumerate(step.lengths):
            first, own = len(step.begun(i)), made[i]
            while len(own) < length:
                place = first + len(own)
                index = min(self._at[i] + place, len(self._texts[i].tokens) - 1)
                own.append(self._texts[i].drafted(index, place))
                stated = self._texts[i].tokens[index].confidence
                if step.wants_confidence and not step.goes_on(i, stated):
                    break
        return made

    def _verify(self, i: int, draft: Sequence[int]) -> list[int]:
        at, out = self._at[i], self._outcome
        kept = next((n for n, token in enumerate(draft) if token != at + n), len(draft))
        self._at[i] += kept + 1
        out.tokens += kept + 1
        out.passes += 1
        out.drafted += len(draft)
        out.accepted += kept
        out.lengths[len(draft)] += 1
        return list(range(at, at + kept + 1))

    def _rows(self, drafts: Sequence[Sequence[int]]) -> int:
        """Of a pass: sequences that share one have the same number of rows each."""
        block = self._profile.block
        return len(drafts) * -(-(1 + max(map(len, drafts))) // block) * block

    def _seconds(self, rounds: int, rows: int) -> tuple[float, float]:
        """Of making a draft, and of the pass that verifies it."""
        profile, at = self._profile, self._at[0]
        slowness = profile.busy if profile.busy_from <= at < profile.busy_until else 1.0
        making = rounds * profile.drafted_token / 1e3
        return making * slowness, profile.pass_seconds(rows, profile.context + at) * slowness

    def _noise(self) -> float:
        profile = self._profile
        factor = math.exp(self._draw.gauss(0.0, profile.noise)) if profile.noise else 1.0
        return factor * 3.0 if self._draw.random() < profile.hiccups else factor

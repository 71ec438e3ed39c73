"""The safety net: measured plain against measured drafting."""

from __future__ import annotations

import random
from itertools import pairwise

from gemma_local.engine.pace.probing import Probing
from gemma_local.engine.pace.watch import Watch


class Course:
    """A sequence that always wants to draft, on a made-up clock."""

    def __init__(self, tokens: float, seconds: float, seed: int = 1) -> None:
        self.watch = Watch()
        self.drafted = self.plain = 0
        self._tokens = tokens
        self._seconds = seconds
        self._draw = random.Random(seed)

    def run(self, steps: int) -> None:
        for _ in range(steps):
            noise = 1.0 + 0.1 * self._draw.random()
            if self.watch.allows(wants_draft=True):
                self.drafted += 1
                tokens = int(self._tokens) + (self._draw.random() < self._tokens % 1)
                self.watch.observe(True, tokens, self._seconds * noise)
            else:
                self.plain += 1
                self.watch.observe(False, 1, 1.0 * noise)


def test_drafts_that_lose_are_forbidden_and_each_time_for_longer() -> None:
    course = Course(tokens=1.5, seconds=2.5)
    course.run(400)
    first = course.drafted
    course.run(4000)
    assert first < 160
    assert course.drafted - first < 4000 * 0.15


def test_drafts_that_win_are_hardly_ever_interrupted() -> None:
    course = Course(tokens=2.0, seconds=1.5)
    course.run(2000)
    assert course.plain < 40
    assert not course.watch.forbids


def test_a_draw_is_no_loss() -> None:
    course = Course(tokens=1.5, seconds=1.5)
    course.run(2000)
    assert course.plain < 300


def test_when_everything_becomes_slower_drafts_are_not_to_blame() -> None:
    watch = Watch()
    for _ in range(6):
        watch.observe(False, 1, 1.0)
    plain = 0
    for _ in range(400):
        # Twice as slow from here on, with drafts as without.
        if watch.allows(wants_draft=True):
            watch.observe(True, 2, 2 * 1.5)
        else:
            plain += 1
            watch.observe(False, 1, 2.0)
    assert not watch.forbids
    assert plain < 20


def texts(watch: Watch, passes: int, each: int, tokens: int) -> int:
    """Texts of ``each`` passes that want to draft, 1.5 s a pass; how many passes it forbade."""
    forbidden = 0
    for at in range(passes):
        if at % each == 0:
            watch.begin()
        if watch.allows(wants_draft=True):
            watch.observe(True, tokens, 1.5)
        else:
            forbidden += watch.forbids
            watch.observe(False, 1, 1.0)
    return forbidden


def test_a_text_does_not_pay_for_the_one_before() -> None:
    watch = Watch()
    watch.observe(False, 1, 1.0)
    watch.observe(False, 1, 1.0)
    watch.begin()
    for _ in range(22):
        watch.observe(True, 1, 1.5)
    assert texts(watch, 60, 60, tokens=2) == 0


def test_short_texts_are_judged_together() -> None:
    watch = Watch()
    watch.observe(False, 1, 1.0)
    watch.observe(False, 1, 1.0)
    assert texts(watch, 200, 6, tokens=1) > 100


def test_bad_clock_values_are_left_out() -> None:
    watch = Watch()
    for seconds in (0.0, -1.0, float("nan"), float("inf")):
        for drafted in (False, True):
            watch.observe(drafted, 2, seconds)
    assert watch.allows(wants_draft=True)


def looks(probing: Probing, passes: int) -> list[int]:
    found = []
    for at in range(passes):
        if probing.is_due():
            found.append(at)
            probing.failed()
    return found


def test_intervals_between_probes_grow_up_to_a_bound() -> None:
    at = looks(Probing(4, 32), 400)
    gaps = [after - before for before, after in pairwise(at)]
    assert gaps == sorted(gaps)
    assert gaps[0] < gaps[2] and max(gaps) == 33


def test_a_probe_that_succeeds_is_followed_by_another_one() -> None:
    probing = Probing(4, 32)
    looks(probing, 100)
    while not probing.is_due():
        pass
    probing.succeeded()
    assert probing.is_due()


def test_a_text_that_has_just_begun_is_looked_at_several_times_at_once() -> None:
    probing = Probing(8, 32)
    probing.set_bounds(8, 32, at_once=3)
    found = looks(probing, 40)
    assert found[:3] == [0, 1, 2]
    assert found[3] >= 8

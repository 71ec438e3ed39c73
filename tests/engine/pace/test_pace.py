"""Decisions: never out of bounds, quick to follow the text, and never slower for long."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemma_local.engine.pace.pace import Pace
from gemma_local.engine.pace.probing import Probing
from gemma_local.engine.pace.profile import Profile, Stretch, usual_profiles
from gemma_local.engine.pace.simulation import Outcome, new_pace, simulate
from gemma_local.engine.pace.step import Step
from gemma_local.engine.pace.tracker import Seat

CPU = {1: 70.0, 2: 112.0, 3: 152.0, 4: 155.0, 5: 214.0, 8: 296.0, 16: 590.0}
USUAL = {profile.name: profile for profile in usual_profiles()}


def profile(*acceptances: tuple[int, float], **more: object) -> Profile:
    stretches = tuple(Stretch(tokens=n, acceptance=share) for n, share in acceptances)
    fields = {"rows": CPU, "drafted_token": 4.2, "confidence": False, **more}
    return Profile(name="a text", stretches=stretches, **fields)  # type: ignore[arg-type]


def drafted(outcome: Outcome, first: int, end: int) -> float:
    """Share of the passes in a part of the text that had a draft."""
    lengths = [length for at, length in outcome.course if first <= at < end]
    return sum(length > 0 for length in lengths) / len(lengths)


def make(step: Step, stated: Sequence[float]) -> list[list[int]]:
    """A drafter that does as it is told, and draws its confidence from ``stated``."""
    made: list[list[int]] = [[] for _ in step.seats]
    for i, length in enumerate(step.lengths):
        while len(made[i]) < length:
            made[i].append(7)
            confidence = stated[len(made[i]) % len(stated)]
            if step.wants_confidence and not step.goes_on(i, confidence):
                break
    return made


TIMES = (float("nan"), float("inf"), -1.0, 0.0, 1e-3, 0.02, 0.1, 5.0)


@settings(deadline=None)
@given(st.integers(0, 1 << 32))
def test_drafts_stay_within_every_bound(seed: int) -> None:
    draw = random.Random(seed)
    draft_max, lookup_max = draw.randint(0, 16), draw.randint(0, 63)
    pace = Pace(draft_max=draft_max, lookup_max=lookup_max, most_rows=draw.randint(1, 80))
    block, shares = draw.choice((1, 4)), draw.random() < 0.5
    trackers = [pace.track() for _ in range(draw.randint(1, 4))]
    for _ in range(draw.randint(1, 25)):
        seats = [Seat(tracker, draw.randint(0, 16), None, block, shares) for tracker in trackers]
        for slot, seat in enumerate(seats):
            seat.slot = 2 * slot if draw.random() < 0.2 else slot
        for seat in seats:
            seat.fixed = draw.choice((None, None, draw.randint(0, 16)))
            if seat.fixed is None and draw.random() < 0.5:
                seat.match = draw.choice((2, 30, 64))
                seat.continuation = [draw.randint(0, 9)] * draw.choice((1, 20, 70))
        step = pace.plan(seats, draw.randint(1, 2), draw.randrange(10**6))
        made = make(step, [draw.random(), float("nan"), draw.random()])
        for i, seat in enumerate(seats):
            assert len(step.begun(i)) <= min(seat.room, lookup_max)
            assert step.begun(i) == list(seat.continuation[: len(step.begun(i))])
            assert 0 <= len(step.begun(i)) + step.lengths[i] <= seat.room
            assert len(made[i]) <= step.lengths[i] <= draft_max
        drafts = step.settle(made)
        for seat, draft in zip(seats, drafts, strict=True):
            assert len(draft) <= seat.room
            if seat.fixed is not None:
                assert len(draft) == min(seat.fixed, seat.room, draft_max)
        emitted = [[7] * draw.randint(0, len(draft)) + [draw.choice((7, 8))] for draft in drafts]
        rows = sum(1 + len(draft) for draft in drafts)
        pace.learn(step, emitted, [(rows, draw.choice(TIMES))], draw.choice(TIMES))
    for tracker in trackers:
        tally = tracker.tally()
        assert tally.parked <= sum(tally.lengths)
        assert all(0.0 <= kept <= 1.0 for _, kept, _ in tally.calibration)


def test_a_drafter_that_is_always_wrong_is_parked_within_a_few_passes() -> None:
    text = profile((600, 0.0))
    found = simulate(text, None)
    assert drafted(found, 12, 600) < 0.02
    assert found.parked > 0.9 * found.passes
    assert found.speed > 0.98 * simulate(text, 0).speed


def test_a_drafter_that_is_never_sure_is_not_asked_in_vain() -> None:
    # What it states tells much, and in the second text always the same.
    spread = Stretch(tokens=600, acceptance=0.6, spread=0.9)
    text = Profile(
        name="unsure",
        rows=CPU,
        drafted_token=4.2,
        stretches=(spread, Stretch(tokens=600, acceptance=0.02)),
    )
    pace = new_pace(text)
    found = simulate(text, None, pace=pace)
    assert pace.calibration.is_useful
    late = [made for at, made in found.asked if at >= 700]
    assert sum(made > 0 for made in late) < 0.1 * len(late)


def test_the_reason_for_parking_is_said() -> None:
    text, pace = profile((300, 0.0)), new_pace(profile((300, 0.0)))
    tracker = pace.track()
    simulate(text, None, pace=pace)
    step = pace.plan([Seat(tracker, 8)], 2, 700)
    assert tracker.tally().parked_now
    assert "of drafted tokens would be kept" in tracker.tally().reason
    pace.learn(step, [[1]], [(1, 0.07)], 0.0)
    assert tracker.tally().plain_speed == pytest.approx(1 / 0.07, rel=0.1)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_it_follows_a_text_that_changes_its_kind(seed: int) -> None:
    text = profile((300, 0.95), (300, 0.05), (300, 0.95))
    found = simulate(text, None, seed=seed)
    assert drafted(found, 60, 300) > 0.8
    # A few dozen tokens after each change the decision has changed, too.
    assert drafted(found, 340, 600) < 0.2
    assert drafted(found, 670, 900) > 0.8


def test_every_length_is_tried_although_shorter_ones_did_not_pay() -> None:
    # Two rows cost nearly as much as two passes, four hardly more than three.
    cliff = {1: 70.0, 2: 138.0, 3: 150.0, 4: 152.0, 5: 290.0, 16: 900.0}
    text = profile((800, 0.9), rows=cliff)
    found = simulate(text, None)
    assert found.lengths.index(max(found.lengths)) == 3
    assert found.speed > 0.97 * simulate(text, 3).speed


def test_exact_passes_are_filled_with_drafts_where_those_are_nearly_free() -> None:
    text = profile((600, 0.6), block=4, most_rows=4, rows={1: 70.0, 4: 155.0, 8: 300.0})
    found = simulate(text, None)
    assert sum(found.lengths[2:4]) > 0.9 * found.passes


def test_a_bad_match_never_floods() -> None:
    false = Stretch(tokens=800, false_matches=0.9)
    text = Profile(name="flood", rows=CPU, drafted_token=0, stretches=(false,), lookup=True)
    found = simulate(text, None)
    assert found.drafted < 60
    assert found.speed > 0.97 * simulate(text, 0).speed


def test_long_drafts_are_taken_from_a_text_that_repeats_itself() -> None:
    copied = Stretch(tokens=800, fresh=80)
    text = Profile(name="copy", rows=CPU, drafted_token=0, stretches=(copied,), lookup=True)
    found = simulate(text, None)
    assert found.accepted / found.drafted > 0.8
    assert max(n for n, count in enumerate(found.lengths) if count) >= 12
    assert found.speed > 1.3 * simulate(text, 0).speed


def test_a_long_match_is_decided_about_once_and_drafted_from_where_it_is() -> None:
    pace = Pace(draft_max=8, lookup_max=63, most_rows=64)
    tracker, decided, drafts = pace.track(), [], []
    for n in range(40):
        seat = Seat(tracker, 63, match=64, continuation=[n] * 63)
        step = pace.plan([seat], 2, 0)
        decided.append(pace._last)
        [draft] = step.settle(make(step, [0.9]))
        assert set(draft[: len(step.begun(0))]) <= {n}
        drafts.append(len(draft))
        pace.learn(step, [[n] * (len(draft) + 1)], [(len(draft) + 1, 0.1)], 0.01)
    assert drafts[-16:] == [63] * 16
    assert len({id(decision) for decision in decided[-16:]}) <= 2
    # Another match, or one that goes on for less, is another matter.
    last = pace._last
    pace.plan([Seat(tracker, 63, match=64, continuation=[7] * 62)], 2, 0)
    assert pace._last is not last
    last = pace._last
    pace.plan([Seat(tracker, 63, match=5, continuation=[7] * 62)], 2, 0)
    assert pace._last is not last


def test_the_drafter_may_go_on_behind_a_short_find() -> None:
    pace = Pace(draft_max=8, lookup_max=15, most_rows=16)
    for _ in range(8):
        for rows in range(1, 17):
            pace.costs.table(2, 0).observe(rows, 0.020 + 0.0001 * rows)
        pace.costs.table(2, 0).observe(0, 0.0002)
    tracker = pace.track()
    for _ in range(40):
        tracker.by_match.learn(0.5, True)
        tracker.by_place.learn(0.5, True)
    step = pace.plan([Seat(tracker, 12, match=20, continuation=[5, 6])], 2, 0)
    assert step.begun(0) == [5, 6]
    assert 1 <= step.lengths[0] <= 6
    made = make(step, [0.9])
    [draft] = step.settle(made)
    assert draft[:2] == [5, 6] and len(draft) > 2
    # The drafter read what was found, too: so many rounds it took.
    assert step.rounds == 2 + len(made[0])


def test_more_sequences_make_a_row_dearer_and_drafts_shorter() -> None:
    alone = profile((500, 0.7), rows={1: 20.0, 8: 22.0, 9: 36.0, 36: 90.0}, most_rows=36)
    four = alone.model_copy(update={"sequences": 4})
    mean = [
        sum(n * count for n, count in enumerate(found.lengths)) / found.passes
        for found in (simulate(alone, None), simulate(four, None))
    ]
    assert mean[1] < 0.7 * mean[0]


def test_a_length_that_was_asked_for_is_drafted_and_taught_from() -> None:
    pace = Pace(draft_max=8, lookup_max=15, most_rows=16)
    tracker = pace.track()
    for _ in range(60):
        step = pace.plan([Seat(tracker, 8, fixed=2)], 2, 0)
        assert step.lengths == [2] and not step.wants_confidence
        assert step.settle(make(step, [0.5])) == [[7, 7]]
        pace.learn(step, [[8]], [(3, 0.1)], 0.01)
    assert pace.costs.table(2, 0).seconds()[3] == pytest.approx(0.1, rel=0.1)
    assert pace.rates.logits()[0] < -1.0
    assert tracker.tally().lengths == ()


@pytest.mark.parametrize("name", list(USUAL))
def test_it_holds_its_own_against_the_best_fixed_length(name: str) -> None:
    text = USUAL[name]
    longest = min(text.draft_max, text.most_rows - 1) if text.drafted_token else 0
    best = max(simulate(text, length).speed for length in range(longest + 1))
    ratio = simulate(text, None).speed / best
    assert ratio >= 0.97
    if name == "cpu2-switching":
        assert ratio >= 1.05
    if name == "cpu2-rewriting":
        assert ratio >= 1.2


def test_a_drafter_that_could_hardly_pay_is_hardly_asked() -> None:
    # A mixture of experts on two cores: each row reads its own experts, and the drafter is dear.
    rows = {1: 26, 2: 53, 3: 72, 4: 87, 5: 110, 6: 125, 7: 140, 8: 150, 9: 165, 16: 240}
    for acceptance in (0.95, 0.8):
        text = profile((2000, acceptance), rows=rows, drafted_token=8.3, confidence=True)
        outcome = simulate(text, None, seed=1)
        asked = sum(made > 0 for _, made in outcome.asked)
        # With every look that succeeds followed by another one it was a sixth of them.
        assert 0 < asked < outcome.passes / 12


def test_looks_that_succeed_and_change_nothing_come_to_an_end() -> None:
    probing = Probing(8, 32)
    probing.set_bounds(8, 32, enough=3)
    while not probing.is_due():
        pass
    for _ in range(2):
        probing.succeeded()
        assert probing.is_due()
    probing.succeeded()
    assert [probing.is_due() for _ in range(16)] == [False] * 16
    # What was found in between does not count against a text that turns good.
    probing.restart()
    probing.succeeded()
    assert probing.is_due()

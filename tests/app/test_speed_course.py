"""The course of an answer's speed, against sums that can be done by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemma_local.app.speed_course import SpeedCourse


def course(*points: tuple[float, int]) -> SpeedCourse:
    made = SpeedCourse()
    for seconds, tokens in points:
        made.add(seconds, tokens)
    return made


def test_the_speed_of_now_is_that_of_the_window_and_not_of_all() -> None:
    slow_then_fast = course((10.0, 50), (12.0, 90))
    assert slow_then_fast.now(2.0) == pytest.approx(20.0)
    assert slow_then_fast.rate(0.0, 12.0) == pytest.approx(7.5)


def test_a_window_that_cuts_a_step_takes_its_part_of_it() -> None:
    # One second at 5 and one at 20 tokens a second.
    assert course((10.0, 50), (11.0, 70)).now(2.0) == pytest.approx(12.5)


def test_before_the_window_is_full_it_is_the_speed_since_the_beginning() -> None:
    assert course((0.5, 10)).now(2.0) == pytest.approx(20.0)


def test_nothing_was_measured() -> None:
    empty = SpeedCourse()
    assert (empty.now(2.0), empty.last(5, 1.0), empty.parts(5)) == (0.0, [], [])


def test_steps_that_are_over_do_not_move() -> None:
    made = course((1.0, 10), (2.0, 30), (2.9, 40))
    assert made.last(8, 1.0) == pytest.approx([10.0, 20.0])
    made.add(3.2, 45)
    assert made.last(8, 1.0)[:2] == pytest.approx([10.0, 20.0])
    assert len(made.last(8, 1.0)) == 3
    assert len(made.last(2, 1.0)) == 2


def test_a_course_shorter_than_a_step_is_shown_all_the_same() -> None:
    assert course((0.25, 5)).last(8, 1.0) == pytest.approx([20.0])


def test_what_does_not_go_on_is_left_out() -> None:
    made = course((2.0, 20), (2.0, 25), (1.0, 30), (3.0, 10), (4.0, 60))
    assert made.rate(0.0, 4.0) == pytest.approx(15.0)


def test_a_long_answer_keeps_its_totals_in_bounded_memory() -> None:
    made = SpeedCourse()
    for count in range(1, 20_001):
        made.add(count * 0.25, count * 4)
    assert len(made._seconds) <= 4096
    assert made.seconds == 5000.0
    assert made.rate(0.0, 5000.0) == pytest.approx(16.0)
    assert made.parts(50) == pytest.approx([16.0] * 50)


steps = st.lists(st.tuples(st.floats(0.01, 5.0), st.integers(0, 60)), min_size=1, max_size=60)


@settings(deadline=None)
@given(steps, st.integers(1, 80))
def test_parts_add_up_to_the_whole(pieces: list[tuple[float, int]], count: int) -> None:
    made = SpeedCourse()
    seconds, tokens = 0.0, 0
    for longer, more in pieces:
        seconds, tokens = seconds + longer, tokens + more
        made.add(seconds, tokens)
    parts = made.parts(count)
    assert 1 <= len(parts) <= min(count, len(pieces))
    assert sum(parts) * seconds / len(parts) == pytest.approx(tokens, abs=1e-6)


@settings(deadline=None)
@given(steps, st.floats(0.1, 10.0))
def test_no_window_is_faster_or_slower_than_its_steps(
    pieces: list[tuple[float, int]], window: float
) -> None:
    made = SpeedCourse()
    seconds, tokens = 0.0, 0
    for longer, more in pieces:
        seconds, tokens = seconds + longer, tokens + more
        made.add(seconds, tokens)
    rates = [more / longer for longer, more in pieces]
    assert min(rates) * 0.999 - 1e-6 <= made.now(window) <= max(rates) * 1.001 + 1e-6

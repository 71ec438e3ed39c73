"""The screen is updated smoothly, and never at the expense of the model."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from gemma_local.app.tui.update_pace import LONGEST, PAUSE, SHARE, UpdatePace


@dataclass
class Times:
    """A clock, and the processor time that was spent."""

    now: float = 1000.0
    spent: float = 5.0

    def pass_by(self, seconds: float, spent: float = 0.0) -> None:
        self.now += seconds
        self.spent += spent


@pytest.fixture
def times() -> Times:
    return Times()


@pytest.fixture
def pace(times: Times) -> UpdatePace:
    return UpdatePace(lambda: times.now, lambda: times.spent)


def test_the_first_update_is_due_at_once(pace: UpdatePace) -> None:
    assert pace.wait == 0


def test_cheap_updates_follow_each_other_as_fast_as_anybody_can_see(
    times: Times, pace: UpdatePace
) -> None:
    for _ in range(5):
        pace.begin()
        assert pace.wait == pytest.approx(PAUSE)
        times.pass_by(PAUSE, spent=0.001)
        assert pace.wait == pytest.approx(0, abs=1e-9)


def test_dear_updates_take_their_share_and_no_more(times: Times, pace: UpdatePace) -> None:
    pace.begin()
    before = times.now, times.spent
    for _ in range(50):
        times.pass_by(0.0, spent=0.03)
        times.pass_by(pace.wait)
        pace.begin()
    share = (times.spent - before[1]) / (times.now - before[0])
    assert share == pytest.approx(SHARE, rel=0.1)


def test_however_dear_it_is_something_is_seen(times: Times, pace: UpdatePace) -> None:
    for _ in range(3):
        pace.begin()
        times.pass_by(0.1, spent=10.0)
    assert 0 < pace.wait <= LONGEST


def test_what_was_spent_in_a_long_pause_was_not_spent_on_updates(
    times: Times, pace: UpdatePace
) -> None:
    pace.begin()
    times.pass_by(60.0, spent=20.0)
    pace.begin()
    assert pace.wait == pytest.approx(PAUSE)

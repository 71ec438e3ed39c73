from __future__ import annotations

import pytest

from gemma_local.app.durations import duration, rough_duration, rough_time_left, time_left


@pytest.mark.parametrize(
    ("seconds", "says"),
    [
        (-0.1, "0.0 s"),
        (0.04, "0.0 s"),
        (4.23, "4.2 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.6, "1 min 0 s"),
        (185, "3 min 5 s"),
        (3599.6, "1 h 0 min"),
        (4320, "1 h 12 min"),
    ],
)
def test_durations_are_as_exact_as_they_are_of_use(seconds: float, says: str) -> None:
    assert duration(seconds) == says


@pytest.mark.parametrize(
    ("seconds", "says"),
    [(0.0, "0.0 s"), (0.94, "0.9 s"), (0.96, "1 s"), (4.2, "4 s"), (125, "2 min 5 s")],
)
def test_what_counts_up_has_tenths_for_a_second_only(seconds: float, says: str) -> None:
    assert duration(seconds, tenths_below=1) == says


def test_what_is_not_done_yet_takes_a_second_at_least() -> None:
    assert [time_left(s) for s in (0.1, 4.6, 15.6, 61)] == ["1 s", "5 s", "16 s", "1 min 1 s"]
    assert [rough_time_left(s) for s in (0.2, 89, 120)] == ["1 s", "89 s", "2 min"]


def test_guesses_are_rough() -> None:
    shown = [rough_duration(s) for s in (0.2, 40, 89, 90, 5399, 5400, 12600)]
    assert shown == ["0 s", "40 s", "89 s", "2 min", "90 min", "1.5 h", "3.5 h"]

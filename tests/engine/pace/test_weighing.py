"""Draft lengths, weighed: the same as trying all of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.engine.pace.prospect import Prospect
from gemma_local.engine.pace.weighing import (
    best_length,
    curve,
    least_seconds_per_token,
    together,
)

CHANCES = st.lists(st.floats(0.01, 0.99), min_size=1, max_size=8)
COSTS = st.lists(st.floats(0.0, 3.0), min_size=8, max_size=8)


@given(CHANCES, COSTS, st.floats(0.0, 0.5), st.floats(0.1, 3.0))
def test_the_best_length_is_the_best_of_all(
    chances: list[float], costs: list[float], making: float, worth: float
) -> None:
    drafted, extra = curve(chances), [0.0, *costs]
    values = [worth * sum(drafted[:n]) - extra[n] - n * making for n in range(len(drafted) + 1)]
    length, gain = best_length(drafted, extra, worth, making)
    assert gain == pytest.approx(max(0.0, *values), abs=1e-9)
    assert values[length] == pytest.approx(max(0.0, *values), abs=1e-9)


@given(CHANCES, COSTS, st.floats(0.0, 0.5))
def test_at_the_best_speed_no_length_gains_anything(
    chances: list[float], costs: list[float], making: float
) -> None:
    drafted, extra = curve(chances), [0.0, *costs]
    worth = least_seconds_per_token(drafted, 1.0, extra, making, 1.0)
    by_hand = [
        (1.0 + extra[n] + n * making) / (1.0 + sum(drafted[:n])) for n in range(len(drafted) + 1)
    ]
    assert worth == pytest.approx(min(by_hand))
    # Dinkelbach: the best gain at the best ratio makes up for the pass itself.
    _length, gain = best_length(drafted, extra, worth, making)
    assert gain == pytest.approx(1.0 - worth, abs=1e-9)


def test_sequences_that_share_a_pass_are_weighed_as_one() -> None:
    assert together([[0.5, 0.25], [0.9]]) == [1.4, 0.25]
    assert together([[0.5]]) == [0.5]


@given(CHANCES, COSTS, st.floats(0.0, 0.5), st.floats(0.1, 3.0), st.integers(0, 8))
def test_a_draft_that_is_weighed_on_the_way_ends_where_it_would_have(
    chances: list[float], costs: list[float], making: float, worth: float, most: int
) -> None:
    most = min(most, len(chances))
    extra = [0.0, *costs]
    prospect = Prospect(extra, worth, making, chances[:most], most)
    made = 0
    while made < most:
        made += 1
        if not prospect.add(chances[made - 1], 0.9):
            break
    assert made <= most
    planned, _gain = best_length(curve(chances[:most]), extra, worth, making)
    # At least as far as was planned, and no worse: what is made already costs nothing more.
    assert made >= min(planned, most)
    assert 0 <= prospect.best_length <= made

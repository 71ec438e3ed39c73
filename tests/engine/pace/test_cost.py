"""What passes cost: learned from few and noisy times, guessed with optimism where there is none."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.engine.pace.cost import DRAFTED, Costs, CostTable

TRUE = {1: 0.07, 2: 0.11, 3: 0.15, 4: 0.155, 8: 0.3}


def taught(times: int = 8, **more: float) -> CostTable:
    table = CostTable(16, **more)
    for _ in range(times):
        for rows, seconds in TRUE.items():
            table.observe(rows, seconds)
        table.observe(DRAFTED, 0.004)
    return table


def test_what_was_measured_is_what_is_expected() -> None:
    seconds = taught().seconds()
    for rows, true in TRUE.items():
        assert seconds[rows] == pytest.approx(true, rel=0.02)
    assert seconds[DRAFTED] == pytest.approx(0.004, rel=0.02)


def test_more_rows_cost_hardly_more_until_they_were_tried() -> None:
    table = CostTable(16)
    table.observe(1, 0.07)
    table.observe(2, 0.14)
    seconds = table.seconds()
    assert all(seconds[2] <= seconds[n] <= 1.5 * seconds[2] for n in range(2, 17))
    # In proportion between two that are known, but for whole blocks, which may be a bargain.
    table.observe(8, 0.5)
    seconds = table.seconds()
    assert seconds[2] < seconds[4] < seconds[3] < seconds[5] < seconds[6] < seconds[7]


def test_when_everything_becomes_slower_other_rows_are_known_to_be_slower_too() -> None:
    table = taught(20)
    for _ in range(12):
        table.observe(4, 2.2 * TRUE[4])
    seconds = table.seconds()
    assert seconds[4] / TRUE[4] > 1.9
    assert seconds[1] / TRUE[1] > 1.7


def test_one_hiccup_changes_little() -> None:
    table = taught(20)
    before = table.seconds()[4]
    table.observe(4, 50 * TRUE[4])
    assert table.seconds()[4] < 1.1 * before


def test_a_first_time_that_was_a_hiccup_is_not_believed() -> None:
    table = CostTable(16)
    for _ in range(6):
        table.observe(1, 0.07)
    table.observe(4, 5.0)
    assert table.seconds()[4] < 5 * 0.07


def test_what_was_not_measured_for_long_is_doubted_until_it_is_tried_again() -> None:
    table = taught(20)
    draw = random.Random(5)
    for _ in range(300):
        table.observe(1, 0.07 * math.exp(draw.gauss(0, 0.1)))
    assert table.seconds()[4] / table.seconds()[1] < 0.95 * TRUE[4] / TRUE[1]
    for _ in range(3):
        table.observe(4, TRUE[4])
    assert table.seconds()[4] / table.seconds()[1] == pytest.approx(TRUE[4] / TRUE[1], rel=0.12)


def test_noise_averages_out() -> None:
    draw, table = random.Random(1), CostTable(16)
    for _ in range(400):
        rows = draw.choice(list(TRUE))
        hiccup = 3.0 if draw.random() < 0.02 else 1.0
        table.observe(rows, TRUE[rows] * hiccup * math.exp(draw.gauss(0, 0.1)))
    seconds = table.seconds()
    for rows, true in TRUE.items():
        assert seconds[rows] / seconds[1] == pytest.approx(true / TRUE[1], rel=0.12)


@given(
    st.lists(
        st.tuples(
            st.integers(-2, 40),
            st.floats(allow_nan=True, allow_infinity=True) | st.floats(1e-6, 1e3),
        ),
        max_size=60,
    )
)
def test_times_that_cannot_be_do_no_harm(times: list[tuple[int, float]]) -> None:
    table = CostTable(16)
    for rows, seconds in times:
        table.observe(rows, seconds)
    assert all(0.0 < seconds < 1e5 for seconds in table.seconds())
    assert len(table.seconds()) == 17


def test_longer_contexts_and_fewer_threads_have_tables_that_begin_alike() -> None:
    costs = Costs(16)
    first = costs.table(2, 100)
    assert costs.table(2, 2000) is first
    for _ in range(6):
        for rows, seconds in TRUE.items():
            first.observe(rows, seconds)
    longer, slower = costs.table(2, 40_000), costs.table(1, 100)
    assert longer is not first and slower is not first
    assert slower.seconds()[4] == pytest.approx(TRUE[4], rel=0.1)
    # All alike may be slower there: that is found out at once.
    for _ in range(3):
        slower.observe(1, 0.2)
    assert slower.seconds()[4] / slower.seconds()[1] < 3.0
    assert slower.seconds()[1] > 0.16
    assert first.seconds()[1] == pytest.approx(0.07, rel=0.05)


def test_what_was_learned_can_be_kept() -> None:
    costs = Costs(16)
    for rows, seconds in TRUE.items():
        for _ in range(9):
            costs.table(2, 100).observe(rows, seconds)
    again = Costs(16)
    again.restore(costs.as_plain())
    for rows, true in TRUE.items():
        assert again.table(2, 100).seconds()[rows] == pytest.approx(true, rel=0.05)
    with pytest.raises((ValueError, TypeError)):
        Costs(16).restore({"two": [[1, 2, 3]]})

"""Which sequences share a pass: what llama.cpp keeps whole, at the least cost."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.engine.pace.calibration import Calibration
from gemma_local.engine.pace.tracker import Tracker
from gemma_local.engine.passes import Pass, passes_over, plain_seconds, usual_cost
from gemma_local.engine.sequence import Limits

FREE, EXACT = Limits(rows=32), Limits(rows=8, ring=256, block=4)
ALONE = Limits(rows=4, block=4, shares=False)


@dataclass
class Sequence:
    """What passes look at of a sequence."""

    slot: int
    limits: Limits = FREE
    pos: int = 100
    last: int = 7
    draft: int | None = None
    tracker: Tracker | None = None


@dataclass
class Case:
    sequences: list[Sequence]
    drafts: list[list[int]]
    cells: list[int]

    def passes(self, most: int = 64) -> list[Pass]:
        return list(passes_over(self.sequences, self.drafts, self.cells, most))  # type: ignore[arg-type]


def case(*members: tuple[int, int], limits: Limits = FREE, cells: int = 100) -> Case:
    """Members are (slot, drafted tokens)."""
    return Case(
        [Sequence(slot, limits) for slot, _ in members],
        [list(range(drafted)) for _, drafted in members],
        [cells] * len(members),
    )


def shape(passes: list[Pass]) -> list[tuple[tuple[int, ...], int]]:
    return [(tuple(s.slot for s in one.sequences), one.rows) for one in passes]


def test_equal_drafts_go_together_in_the_order_of_slots() -> None:
    assert shape(case((2, 3), (0, 3), (1, 3)).passes()) == [((0, 1, 2), 4)]


def test_a_gap_between_slots_ends_a_pass() -> None:
    assert shape(case((0, 1), (1, 1), (3, 1)).passes()) == [((0, 1), 2), ((3,), 2)]


def test_shorter_drafts_are_filled_up_if_that_is_cheaper() -> None:
    assert shape(case((0, 3), (1, 2)).passes()) == [((0, 1), 4)]
    # 16 rows and one more pass are less than 48 rows.
    assert shape(case((0, 15), (1, 0), (2, 0)).passes()) == [((0,), 16), ((1, 2), 1)]


def test_equal_rows_share_a_pass_whatever_was_measured() -> None:
    here = case((0, 1), (1, 1), (2, 1), (4, 1))
    dear = passes_over(here.sequences, here.drafts, here.cells, 64, lambda rows: rows**3)  # type: ignore[arg-type]
    assert shape(list(dear)) == [((0, 1, 2), 2), ((4,), 2)]
    few = passes_over(here.sequences, here.drafts, here.cells, 4, usual_cost)  # type: ignore[arg-type]
    assert shape(list(few)) == [((0, 1), 2), ((2,), 2), ((4,), 2)]


def test_blocks_share_a_pass_only_where_that_changes_no_bit() -> None:
    assert shape(case((0, 3), (1, 0), limits=EXACT).passes()) == [((0, 1), 4)]
    assert shape(case((0, 3), (1, 0), limits=ALONE).passes()) == [((0,), 4), ((1,), 4)]
    mixed = Case([Sequence(0), Sequence(1, EXACT)], [[1], [2]], [50, 50])
    assert shape(mixed.passes()) == [((0,), 2), ((1,), 4)]


def test_before_the_end_of_the_ring_rows_go_one_by_one() -> None:
    here = Case([Sequence(0, EXACT), Sequence(1, EXACT)], [[], []], [3, 100])
    assert shape(here.passes()) == [((0,), 1), ((1,), 4)]


@pytest.mark.parametrize(("limits", "wanted"), [(FREE, [1, 1, 1, 1, 0, 0]), (EXACT, [1] * 8)])
def test_a_batch_has_the_same_number_of_rows_for_each(limits: Limits, wanted: list[int]) -> None:
    [one] = case((4, 2), (5, 0), limits=limits).passes()
    tokens, positions, slots, asked = one.batch()
    rows = one.rows
    assert slots == [4] * rows + [5] * rows
    assert positions == [*range(100, 100 + rows)] * 2
    assert tokens[:3] == [7, 0, 1] and set(tokens[rows:]) == {7}
    assert asked == wanted
    assert one.first_logits == [0, 3 if limits is FREE else rows]


members = st.lists(
    st.tuples(st.integers(0, 8), st.integers(0, 7)),
    min_size=1,
    max_size=6,
    unique_by=lambda m: m[0],
)


@given(members, st.sampled_from([FREE, EXACT, ALONE]), st.integers(1, 40), st.integers(8, 64))
def test_each_is_in_one_pass_that_llama_keeps_whole(
    drawn: list[tuple[int, int]], limits: Limits, cells: int, most: int
) -> None:
    drafted = [(slot, min(count, cells - 1)) for slot, count in drawn]
    passes = case(*drafted, limits=limits, cells=cells).passes(most)
    slots = [s.slot for one in passes for s in one.sequences]
    assert slots == sorted(slot for slot, _ in drafted)
    for one in passes:
        own = [s.slot for s in one.sequences]
        assert own == list(range(own[0], own[0] + len(own)))
        assert max(map(len, one.drafts)) < one.rows <= cells
        assert len(own) == 1 or one.rows * len(own) <= most
        if limits.are_exact:
            assert one.rows % limits.block == 0 or len(own) == 1


@given(members)
def test_no_other_division_is_cheaper(drafted: list[tuple[int, int]]) -> None:
    passes = case(*drafted).passes()
    found = sum(usual_cost(one.rows * len(one.sequences)) for one in passes)
    order = sorted(drafted)
    for cuts in itertools.product([False, True], repeat=len(order) - 1):
        groups, current = [], [order[0]]
        for cut, member in zip(cuts, order[1:], strict=True):
            if cut or member[0] != current[-1][0] + 1:
                groups.append(current)
                current = []
            current.append(member)
        groups.append(current)
        cost = sum(usual_cost(len(g) * (max(n for _, n in g) + 1)) for g in groups)
        assert found <= cost


def plain(*slots: int, limits: Limits = FREE, speed: float | None = 1.0, fixed: int = 0) -> Case:
    """Sequences that draft nothing. Pace knows a ``speed`` for all but ``fixed`` of them, whose
    length of drafts was asked for."""
    found = case(*((slot, 0) for slot in slots), limits=limits)
    for place, sequence in enumerate(found.sequences):
        if place < fixed:
            sequence.draft = 2
        else:
            sequence.tracker = Tracker(Calibration())
            sequence.tracker.plain_speed = speed
    return found


@pytest.mark.parametrize(
    ("members", "seconds"),
    [
        # One alone: pace has said it.
        (plain(0, speed=0.1), 10.0),
        (plain(0, 1, 2, 3), usual_cost(4)),
        # Each waits for the passes that it is not in.
        (plain(0, 2, 3), usual_cost(1) + usual_cost(2)),
        (plain(0, 1, limits=EXACT), usual_cost(8)),
        (plain(0, 1, 2, limits=ALONE), 3 * usual_cost(4)),
        (plain(0, 1, fixed=1), usual_cost(2)),
        (plain(0, 1, fixed=2), None),
        (plain(0, 1, speed=None), None),
    ],
)
def test_what_a_step_would_take_without_drafts(members: Case, seconds: float | None) -> None:
    found = plain_seconds(members.sequences, members.cells, 64, usual_cost)  # type: ignore[arg-type]
    assert found == (None if seconds is None else pytest.approx(seconds))

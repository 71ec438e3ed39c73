from __future__ import annotations

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from gemma_local.app.tui.transcript.heights import Heights

some_heights = st.lists(st.integers(0, 40), max_size=60)


@given(some_heights, st.lists(st.tuples(st.integers(0, 59), st.integers(0, 40)), max_size=20))
def test_every_item_begins_where_those_above_it_end(
    heights: list[int], changes: list[tuple[int, int]]
) -> None:
    tree = Heights(heights)
    for index, height in changes:
        if index < len(heights):
            assert tree.change(index, height) == height - heights[index]
            heights[index] = height
    assert tree.total == sum(heights)
    assert [tree.top(at) for at in range(len(heights) + 1)] == [0, *accumulate(heights)]
    assert [tree[at] for at in range(len(tree))] == heights


@given(some_heights)
def test_every_line_is_in_the_item_that_has_it(heights: list[int]) -> None:
    tree = Heights(heights)
    lines = [(at, line) for at, height in enumerate(heights) for line in range(height)]
    assert [tree.at(line) for line in range(tree.total)] == lines
    assert tree.at(tree.total + 3) == (len(heights), 3)
    if lines:
        assert tree.at(-1) == lines[0]

"""Stop strings and the loop watch, on plain text and ids."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.engine.encoding import StopStrings
from gemma_local.engine.output import loop_period


@given(
    text=st.text("abc", max_size=40),
    stops=st.lists(st.text("abc", min_size=1, max_size=4), max_size=3),
    cuts=st.lists(st.integers(0, 40), max_size=8),
)
def test_the_same_text_however_it_is_cut(text: str, stops: list[str], cuts: list[int]) -> None:
    places = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})
    watch = StopStrings(stops)
    shown = ""
    for start, end in itertools.pairwise(places):
        shown += watch.feed(text[start:end])
        if watch.found is not None:
            break
    whole = StopStrings(stops)
    expected = whole.feed(text) + ("" if whole.found else whole.finish())
    if watch.found is None:
        shown += watch.finish()
        assert shown == text
    else:
        # The earliest stop that is complete ends the text; a longer stop beginning earlier may
        # have been cut by the chunk, never the text before both.
        assert expected.startswith(shown) or shown.startswith(expected)
        assert not any(stop in shown for stop in stops)


def test_text_that_may_become_a_stop_string_is_held_back() -> None:
    watch = StopStrings(["\n\nUser:"])
    assert watch.feed("Yes.\n") == "Yes."
    assert watch.feed("\nUs") == ""
    assert watch.feed("ually") == "\n\nUsually"
    assert watch.feed(".\n\nUser") == "."
    assert watch.feed(": hi") == ""
    assert watch.found == "\n\nUser:"
    assert watch.feed("more") == ""


def test_held_back_text_is_released_at_the_end() -> None:
    watch = StopStrings(["<end>"])
    assert watch.feed("a <en") == "a "
    assert watch.finish() == "<en"


@pytest.mark.parametrize("period", [1, 2, 7, 64])
def test_endless_cycles_are_found(period: int) -> None:
    ids = list(range(1000, 1100)) + [i % period for i in range(64 * 12)]
    assert loop_period(ids) == period


@pytest.mark.parametrize(
    "ids",
    [
        list(range(2000)),
        [5] * 200,  # a ruler of dashes
        [*range(20)] * 11,  # eleven like rows of a table
        [i // 3 for i in range(1200)],
    ],
)
def test_what_people_write_is_not_a_loop(ids: list[int]) -> None:
    assert loop_period(ids) is None

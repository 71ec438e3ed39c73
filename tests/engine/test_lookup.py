"""Prompt lookup, against a search that looks at every place."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemma_local.engine.drafters.lookup import (
    CANDIDATES,
    LONG,
    LONGEST,
    REACH,
    SHORTEST,
    SHORTEST_NEAR,
    Lookup,
    Match,
)

texts = st.lists(st.integers(0, 3), max_size=CANDIDATES // 2)
"""Short enough that no place is left out."""
copies = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 12), st.integers(0, 3), st.booleans()), max_size=3
)
"""What texts go on with: where a piece is copied from, its length, another token, and whether a
match is asked for after each token or only in the end."""


def common(text: list[int], start: int) -> int:
    """Tokens before ``start`` that are those at the end."""
    count = 0
    while count < min(start, LONGEST) and text[start - 1 - count] == text[-1 - count]:
        count += 1
    return count


class Reference:
    """The same by looking at every place, each time anew."""

    def __init__(self, text: list[int]) -> None:
        self.text = text
        self.asked: Match | None = None
        self.broken: tuple[int, int] | None = None

    def extend(self, token: int) -> None:
        going = self.asked
        if going is not None and self.text[going.start] == token:
            self.asked = Match(min(going.length + 1, LONGEST), going.start + 1)
        else:
            if going is not None and going.length >= LONG:
                self.broken = going.start, len(self.text)
            self.asked = None
        self.text.append(token)

    def match(self) -> Match | None:
        if self.asked is None:
            self.asked = self.found()
        return self.asked

    def found(self) -> Match | None:
        text = self.text
        is_late = self.broken is None or len(text) - self.broken[1] > REACH
        broken = None if is_late or self.broken is None else self.broken[0]
        best, rank = None, (0, 0, 0)
        for start in range(1, len(text)):
            near = broken is not None and broken < start <= broken + REACH
            length = common(text, start)
            if length < (SHORTEST_NEAR if near else SHORTEST):
                continue
            ranked = (length, int(near), -start if near else start)
            if ranked > rank:
                best, rank = Match(length, start), ranked
        return best


@given(texts)
def test_the_longest_end_that_was_there_before_is_found(text: list[int]) -> None:
    assert Lookup(text).match() == Reference(text).match()


@settings(max_examples=300)
@given(texts, copies)
def test_a_growing_text_is_searched_as_well_as_a_whole_one(
    text: list[int], more: list[tuple[int, int, int, bool]]
) -> None:
    lookup, reference = Lookup(text), Reference(list(text))
    for start, length, token, is_asked in more:
        piece = [*reference.text[start : start + length], token]
        for number, one in enumerate(piece, start=1):
            lookup.extend([one])
            reference.extend(one)
            if is_asked or number == len(piece):
                found = lookup.match()
                assert found == reference.match()
                # Whatever was asked before, no other place has a longer match.
                whole = reference.text
                longest = max((common(whole, at) for at in range(1, len(whole))), default=0)
                assert longest < SHORTEST if found is None else found.length == longest


@given(texts, st.integers(0, 40))
def test_a_continuation_is_what_followed_and_goes_round_at_the_end(
    text: list[int], count: int
) -> None:
    lookup = Lookup(text)
    match = lookup.match()
    if match is None:
        return
    assert match.start < len(text)
    followed = lookup.continuation(match, count)
    assert len(followed) == count
    whole = text + followed
    assert followed == [whole[match.start + at] for at in range(count)]


@pytest.mark.parametrize("text", [[], [1], [1, 2], [1, 2, 3, 4, 5], [1, 1], [1, 2, 1, 2]])
def test_a_text_that_is_new_or_too_short_has_no_match(text: list[int]) -> None:
    assert Lookup(text).match() is None


def test_the_latest_of_equally_long_ones_counts() -> None:
    lookup = Lookup([1, 2, 3, 10, 0, 1, 2, 3, 20, 0, 5, 1, 2, 3])
    assert lookup.match() == Match(3, 8)
    # A longer one counts more than a later one.
    lookup = Lookup([7, 1, 2, 3, 10, 0, 1, 2, 3, 20, 7, 1, 2, 3])
    assert lookup.match() == Match(4, 4)


def test_what_goes_on_as_foretold_is_kept() -> None:
    lookup = Lookup([8, 1, 2, 3, 4, 5, 9, 1, 2, 3, 4, 6, 8, 1, 2, 3])
    assert lookup.match() == Match(4, 4)
    lookup.extend([4])
    assert lookup.match() == Match(5, 5)
    # The place was the wrong one; what is left of the match is found elsewhere.
    lookup.extend([6])
    assert lookup.match() == Match(5, 12)


@pytest.mark.parametrize("length", [LONGEST, LONGEST + 1, 3 * LONGEST])
def test_no_more_than_the_longest_is_counted(length: int) -> None:
    run = list(range(100, 100 + length))
    lookup = Lookup([*run, 1, *run])
    assert lookup.match() == Match(LONGEST, length)
    lookup.extend([1])
    assert lookup.match() == Match(LONGEST, length + 1)


FILE = [*range(100, 140), 7, 8, *range(140, 180), 7, 8, *range(180, 220)]
"""A text with two places alike."""


@pytest.mark.parametrize(
    ("written", "follows"),
    [
        pytest.param([1], 111, id="a token replaced"),
        pytest.param([1, 2, 3, 4], 111, id="one replaced by several"),
        pytest.param([], 114, id="some left out"),
        pytest.param([1, 2], 110, id="some put in"),
    ],
)
def test_after_a_change_the_text_is_found_again_two_tokens_later(
    written: list[int], follows: int
) -> None:
    lookup = Lookup(FILE)
    lookup.extend(range(100, 110))
    assert lookup.match() == Match(10, 10)
    for token in (*written, follows):
        lookup.extend([token])
        lookup.match()
    lookup.extend([follows + 1])
    match = lookup.match()
    assert match is not None
    assert match.length == SHORTEST_NEAR
    assert lookup.continuation(match, 3) == [follows + 2, follows + 3, follows + 4]


def test_after_a_change_the_next_place_is_preferred_to_others() -> None:
    lookup = Lookup(FILE)
    lookup.extend(FILE[:38])
    lookup.match()
    for token in (1, 7, 8):
        lookup.extend([token])
        match = lookup.match()
    assert match is not None
    assert lookup.continuation(match, 2) == [140, 141]


def test_far_from_a_change_two_tokens_are_not_enough() -> None:
    lookup = Lookup(FILE)
    lookup.extend(FILE[:20])
    lookup.match()
    lookup.extend(range(300, 300 + REACH))
    lookup.extend([130, 131])
    assert lookup.match() is None
    lookup.extend([132])
    assert lookup.match() == Match(3, FILE.index(132) + 1)


def test_a_short_match_that_breaks_off_is_no_change() -> None:
    lookup = Lookup([*range(100, 130), 50, 51, 52, 53, 54])
    lookup.extend([50, 51, 52])
    assert lookup.match() is not None
    lookup.extend([1, 53, 54])
    assert lookup.match() is None


def test_where_the_same_stands_everywhere_the_latest_places_are_compared() -> None:
    indent = [1, 2, 3]
    lines = [token for number in range(10 * CANDIDATES) for token in (*indent, 1000 + number)]
    lookup = Lookup([*lines, *indent])
    assert lookup.match() == Match(SHORTEST, len(lines) - 1)
    # A line that lies further back is found by what is rarer than its beginning.
    old = lines[40:60]
    lookup.extend([9, *old])
    match = lookup.match()
    assert match is not None
    assert (match.length, match.start) == (len(old), 60)


def test_what_is_repeated_in_a_long_text_is_foretold() -> None:
    text = [(7 * at * at + 3 * at) % 3001 for at in range(3000)]
    lookup = Lookup(text)
    foretold = 0
    for token in text[1000:2000]:
        match = lookup.match()
        foretold += match is not None and lookup.continuation(match, 1) == [token]
        lookup.extend([token])
    # All but the first three, by which the place is recognised.
    assert foretold == 1000 - SHORTEST

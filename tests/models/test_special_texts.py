"""Looking for many texts at once, against looking for each by itself."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gemma_local.models.special_texts import SpecialTexts

# Two letters make everything overlap.
words = st.text("ab<", min_size=1, max_size=4)
texts = st.text("ab<", max_size=12)


@given(st.lists(words, max_size=5), texts)
@settings(max_examples=150, deadline=None)
def test_starts(specials: list[str], text: str) -> None:
    found = list(SpecialTexts(specials).starts(text))
    longer = [special for special in specials if len(special) > 1]
    assert found == [
        at for at in range(len(text)) if any(text.startswith(special, at) for special in longer)
    ]


@given(st.lists(words, max_size=5), texts, texts)
@settings(max_examples=150, deadline=None)
def test_spans(specials: list[str], left: str, right: str) -> None:
    spanning = any(
        left.endswith(special[:at]) and right.startswith(special[at:])
        for special in specials
        for at in range(1, len(special))
    )
    assert SpecialTexts(specials).spans(left, right) is spanning


@given(st.lists(words, max_size=5), texts)
@settings(max_examples=150, deadline=None)
def test_may_touch(specials: list[str], text: str) -> None:
    halves = [(special[:at], special[at:]) for special in specials for at in range(1, len(special))]
    assert SpecialTexts(specials).may_touch(text) == (
        any(text.startswith(end) for _, end in halves),
        any(text.endswith(beginning) for beginning, _ in halves),
    )


@given(st.lists(words, max_size=5), texts)
@settings(deadline=None)
def test_last_end(specials: list[str], text: str) -> None:
    ends = [
        text.find(special, at) + len(special)
        for special in specials
        if len(special) > 1
        for at in range(len(text))
        if text.find(special, at) >= 0
    ]
    assert SpecialTexts(specials).last_end(text) == max(ends, default=0)

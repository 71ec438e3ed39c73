from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from gemma_local.app.words_diff import Run, after_of, before_of, changes, words_diff

texts = st.lists(st.sampled_from(["the", "cat", "sat", " ", "  ", "\n", ",", "é", "don't"])).map(
    "".join
) | st.text(max_size=60)


@given(texts, texts)
def test_both_texts_are_in_it(before: str, after: str) -> None:
    runs = words_diff(before, after)
    assert before_of(runs) == before
    assert after_of(runs) == after
    assert all(run.text for run in runs)


@given(texts)
def test_the_same_text_has_no_changes(text: str) -> None:
    assert changes(words_diff(text, text)) == 0
    assert words_diff(text, text) == ([Run("same", text)] if text else [])


@given(texts, texts)
def test_no_two_runs_of_a_kind_stand_side_by_side(before: str, after: str) -> None:
    kinds = [run.kind for run in words_diff(before, after)]
    assert all(one != other for one, other in pairwise(kinds))


def test_words_are_changed_and_not_letters() -> None:
    assert words_diff("I has a cat.", "I have a cat.") == [
        Run("same", "I "),
        Run("removed", "has"),
        Run("added", "have"),
        Run("same", " a cat."),
    ]


def test_changed_words_in_a_row_are_one_change() -> None:
    runs = words_diff("me and him goes there", "he and I go there")
    assert changes(runs) == 2
    assert Run("removed", "him goes") in runs and Run("added", "I go") in runs


def test_an_added_comma_changes_no_word() -> None:
    assert words_diff("However it works", "However, it works") == [
        Run("same", "However"),
        Run("added", ","),
        Run("same", " it works"),
    ]


def test_long_texts_are_compared_by_lines() -> None:
    line = "one two three four five six seven eight nine ten\n"
    before = line * 3000
    after = line * 1500 + "a new line in the middle of it\n" + line * 1500
    runs = words_diff("x " + before + "y", "z " + after + "w")
    assert after_of(runs) == "z " + after + "w"

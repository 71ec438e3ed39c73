"""The simulation of drafting and verifying, on cases worked out by hand."""

from __future__ import annotations

import pytest

from tests.ggufs.acceptance import Drafter, expected_acceptance
from tests.ggufs.script import NAN, script

LETTERS = script(list("abcdefgh"))


def test_plain_decoding_takes_one_pass_a_token_after_the_first() -> None:
    result = expected_acceptance(LETTERS, 0, 100)
    assert result.tokens == [*"abcdefgh", "<turn|>"]
    assert (result.passes, result.drafted, result.accepted) == (8, 0, 0)


def test_right_drafts_are_all_accepted() -> None:
    # a | bcd+e | fgh+end: the second draft is "f g h", and the target adds the end itself.
    result = expected_acceptance(LETTERS, 3, 100)
    assert result.tokens == [*"abcdefgh", "<turn|>"]
    assert result.passes == 2
    assert result.drafted_by_position == result.accepted_by_position == [2, 2, 2]


def test_drafting_stops_after_an_end_token_and_nothing_follows_it() -> None:
    # a | bcde+f | gh<turn|>: three drafts only, all accepted, no token of the target's own.
    result = expected_acceptance(LETTERS, 4, 100)
    assert result.tokens == [*"abcdefgh", "<turn|>"]
    assert result.passes == 2
    assert result.drafted_by_position == result.accepted_by_position == [2, 2, 2, 1]


def test_a_wrong_draft_costs_the_rest_of_its_pass() -> None:
    # Wrong after c (index 2) and f (5). k=3: from a: b c WRONG -> 2, the target adds d; from d:
    # e f WRONG -> 2, it adds g; from g: h <turn|> -> 2.
    result = expected_acceptance(LETTERS, 3, 100, Drafter(wrong_every=3))
    assert result.tokens == [*"abcdefgh", "<turn|>"]
    assert result.passes == 3
    assert result.drafted_by_position == [3, 3, 2]
    assert result.accepted_by_position == [3, 3, 0]
    assert result.rate == pytest.approx(6 / 8)


def test_a_drafter_that_errs_everywhere_changes_nothing_but_the_counts() -> None:
    result = expected_acceptance(LETTERS, 2, 100, Drafter(wrong_every=1))
    assert result.tokens == [*"abcdefgh", "<turn|>"]
    assert (result.passes, result.accepted) == (8, 0)
    # After a wrong first draft the drafter goes on as after any other token: at "a".
    assert result.drafted_by_position == [8, 8]


def test_a_draft_is_no_longer_than_can_be_used() -> None:
    # max_tokens 6: after a and bcd+e one token is left, which a plain pass gives.
    result = expected_acceptance(LETTERS, 3, 6)
    assert result.tokens == list("abcdef")
    assert result.passes == 2
    assert result.drafted_by_position == [1, 1, 1]
    assert expected_acceptance(LETTERS, 3, 1).passes == 0


def test_rows_of_a_pass_fit_the_context() -> None:
    # 10 cells, 6 of them prompt. The first pass takes cells 6-9 (a b c d) and adds e: full.
    result = expected_acceptance(LETTERS, 3, 100, prompt_tokens=6, context=10)
    assert result.tokens == list("abcde")
    assert (result.passes, result.drafted) == (1, 3)
    # With one cell fewer the draft is one shorter.
    result = expected_acceptance(LETTERS, 3, 100, prompt_tokens=7, context=10)
    assert result.tokens == list("abcd")
    assert (result.passes, result.drafted) == (1, 2)


def test_a_loop_goes_on_to_the_limit() -> None:
    result = expected_acceptance(script(["x", "y", "z"], loop_to=1), 1, 8)
    assert result.tokens == ["x", "y", "z", "y", "z", "y", "z", "y"]
    # x | y+z | y+z | y+z | y: the last one has no room for a draft.
    assert (result.passes, result.drafted, result.accepted) == (4, 3, 3)


def test_a_script_may_end_in_nan() -> None:
    broken = script(["fine", "still", "here"], end=NAN)
    # k=0: passes for "still", "here" and the one whose logits are NaN.
    assert expected_acceptance(broken, 0, 100).passes == 3
    # k=1: "still" drafted, "here" added; then nothing can be drafted.
    result = expected_acceptance(broken, 1, 100)
    assert result.tokens == ["fine", "still", "here"]
    assert (result.passes, result.drafted, result.accepted) == (2, 1, 1)
    # k=2: both drafted; the row of "here" is in that pass already.
    assert expected_acceptance(broken, 2, 100).passes == 1


def test_a_repeated_token_goes_on_as_the_one_before_it_says() -> None:
    quoted = script(["a:", '"', "x", '"', ",b:", '"', "y", '"'])
    for length in range(5):
        result = expected_acceptance(quoted, length, 100, Drafter(wrong_after=frozenset({3})))
        assert result.tokens == ["a:", '"', "x", '"', ",b:", '"', "y", '"', "<turn|>"]
    # Only the second quotation mark is followed by a wrong draft.
    result = expected_acceptance(quoted, 1, 100, Drafter(wrong_after=frozenset({1, 3})))
    # After piece 1 the target adds the token itself, so that error never shows.
    assert result.tokens[-1] == "<turn|>"
    assert result.accepted == result.drafted


def test_greedy_takes_the_likeliest_alternative() -> None:
    varied = script(["The", {" red": 0.3, " blue": 0.5, " green": 0.2}, " car"])
    assert expected_acceptance(varied, 2, 100).tokens == ["The", " blue", " car", "<turn|>"]


def test_a_later_segment_begins_after_its_token() -> None:
    agent = script(["call"], end="<|tool_response>").then(["done"], after="<tool_response|>")
    assert expected_acceptance(agent, 1, 9).tokens == ["call", "<|tool_response>"]
    answer = expected_acceptance(agent, 1, 9, prompt=("}", "<tool_response|>"))
    assert answer.tokens == ["done", "<turn|>"]


def test_a_pair_of_tokens_can_start_a_segment() -> None:
    thinking = script(["a", "\n", "b"]).then(["idea"], after=("thought", "\n"))
    assert expected_acceptance(thinking, 2, 9).tokens == ["a", "\n", "b", "<turn|>"]
    chat = expected_acceptance(thinking, 2, 9, prompt=("model", "\n"))
    assert chat.tokens == ["a", "\n", "b", "<turn|>"]
    thought = expected_acceptance(thinking, 2, 9, prompt=("thought", "\n"))
    assert thought.tokens == ["idea", "<turn|>"]

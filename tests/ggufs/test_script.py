"""Scripts: what they say, and what cannot be said."""

from __future__ import annotations

import math

import pytest

from tests.ggufs.chain import OTHER, PEAK, SOFTCAP, target_chain
from tests.ggufs.script import pieces_of, script
from tests.ggufs.vocabulary import WRONG, byte_tokens


def test_text_is_what_is_printed() -> None:
    said = script(["caf", *byte_tokens("é"), "<|channel>", "<turn|>", " end"], end="<eos>")
    assert said.text == "café<|channel> end"
    assert said.tokens[-1] == "<eos>"


def test_text_is_cut_into_pieces_that_differ() -> None:
    text = "to be, or not to be, to be or not to be, that that that"
    for size in (1, 2, 4, 7):
        pieces = pieces_of(text, size)
        assert "".join(pieces) == text
        assert len(set(pieces)) == len(pieces)


def test_alternatives_have_the_given_probabilities_behind_the_softcap() -> None:
    chain = target_chain(script(["The", {" red": 5, " blue": 3, " green": 2}, " car"]))
    capped = {
        name: SOFTCAP * math.tanh(level / SOFTCAP)
        for name, level in chain.logits(OTHER, "The").items()
    }
    total = sum(math.exp(level) for level in capped.values())
    shares = [math.exp(capped[name]) / total for name in (" red", " blue", " green")]
    assert shares == pytest.approx([0.5, 0.3, 0.2], abs=0.005)
    assert max(chain.logits(OTHER, "The").values()) == pytest.approx(PEAK)


def test_all_alternatives_lead_on() -> None:
    chain = target_chain(script(["The", {" red": 5, " blue": 3}, " car"]))
    assert chain.greedy("The", " red") == chain.greedy("The", " blue") == " car"


def test_two_ways_on_from_the_same_two_tokens_are_refused() -> None:
    with pytest.raises(ValueError, match="goes on in two ways"):
        target_chain(script(["a", "b", "c", "a", "b", "d"]))


def test_a_beginning_that_the_prompt_could_be_taken_for_is_refused() -> None:
    # After a prompt that ends in a newline, "a" would be taken for the second one.
    with pytest.raises(ValueError, match="goes on in two ways"):
        target_chain(script(["a", "b", "\n", "a", "c"]))


@pytest.mark.parametrize("loop_to", [-1, 2])
def test_a_loop_goes_to_a_piece(loop_to: int) -> None:
    with pytest.raises(ValueError, match="loop_to"):
        script(["a", "b"], loop_to=loop_to)


def test_the_drafters_error_cannot_be_said() -> None:
    with pytest.raises(ValueError, match="wrong"):
        script(["a", {WRONG: 0.5, "b": 0.5}])

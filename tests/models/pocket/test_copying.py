"""Texts to be copied, and the same said in other words."""

from __future__ import annotations

import random
from typing import Final

import pytest

from gemma_local.models.pocket.train.corpus import copying, helpers, tool_steps, wordings

_PIECES: Final = ("ab", " cd", "e", "_", " f", "gh", "12", ".", " ij", "k", "Lm", " no", "p", "qr")


def test_what_is_to_be_said_stands_in_the_question() -> None:
    rng = random.Random(1)
    for _ in range(300):
        sample = copying.sample(rng, _PIECES)
        question, answer = sample.messages[0].text, sample.answer.text
        assert answer.strip()
        for part in answer.split():
            # Where a name was replaced its parts come from two places.
            assert all(sign in question for sign in part)
        if "becomes" not in question and "Replace" not in question and " for " not in question:
            assert answer in question


def test_each_piece_is_copied() -> None:
    rng = random.Random(2)
    said = "".join(copying.sample(rng, _PIECES).answer.text for _ in range(400))
    assert all(piece.strip() in said for piece in _PIECES)


def test_a_replaced_name_is_gone() -> None:
    rng = random.Random(3)
    seen = 0
    while seen < 20:
        sample = copying.sample(rng, _PIECES)
        order, sign, text = sample.messages[0].text.partition(":\n")
        if not sign or " becomes " not in order:
            continue
        seen += 1
        old, new = order.split(" becomes ")
        words = text.replace(", ", " ").split()
        assert old in words
        assert sample.answer.text.replace(", ", " ").split() == [
            new if word == old else word for word in words
        ]


@pytest.mark.parametrize(
    "text",
    [
        "What does `/clear` do?",
        "gemma-local models list",
        "Ctrl+C or --save",
        "src/open.py says find_key",
    ],
)
def test_commands_and_names_are_never_reworded(text: str) -> None:
    rng = random.Random(4)
    names = [word for word in text.split() if not word.isalpha()]
    for _ in range(60):
        other = wordings.reworded(text, rng).split()
        assert all(name in other for name in names)


def test_words_are_replaced_now_and_then() -> None:
    rng = random.Random(5)
    found = {wordings.reworded("Stop the answer.", rng) for _ in range(200)}
    assert {"Stop the answer.", "Halt the answer.", "Stop the reply."} <= found


def test_orders_become_requests_and_questions_stay() -> None:
    rng = random.Random(6)
    assert "Could you read {file}?" in {wordings.politely("Read {file}.", rng) for _ in range(200)}
    for text in ("What is in {file}?", "ls", "Rather not."):
        assert wordings.politely(text, rng) == text


def test_what_is_held_out_is_never_said_in_training() -> None:
    rng = random.Random(7)
    for _ in range(400):
        asked = tool_steps.ask(rng, "train", "Show me x.|Read x.", "Could you show me x?")
        assert "Could you show me x?" not in asked
        sample = helpers.sample(rng, "train")
        for helper in helpers.helpers():
            held_out = f"that {helper.does[-1]}."
            assert not sample.messages[0].text.endswith(held_out)

"""The vocabulary gives a word the same pieces wherever it stands."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from gemma_local.models.pocket.train.corpus import words
from gemma_local.models.pocket.train.tokenizer import SPACE, Tokenizer

pytest.importorskip("tokenizers")


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    rng = random.Random(1)
    names = [words.identifier(rng, "train") for _ in range(600)]
    lines = [
        f"Read {a} and `{b}` in src/{c}.py" for a, b, c in zip(*[iter(names)] * 3, strict=True)
    ]
    return Tokenizer.learn(lines * 3, 1800)


def test_a_space_in_front_changes_the_first_piece_alone(tokenizer: Tokenizer) -> None:
    rng = random.Random(2)
    for _ in range(300):
        name = words.identifier(rng, "test")
        bare = [tokenizer.tokens[index] for index in tokenizer.text_ids(name)]
        spaced = [tokenizer.tokens[index] for index in tokenizer.text_ids(f" {name}")]
        assert spaced in ([SPACE + bare[0], *bare[1:]], [SPACE, *bare])


def test_texts_come_back_as_they_were(tokenizer: Tokenizer) -> None:
    for text in (
        "  two  blanks ",
        "\ttab\n\n\nlines",
        "Übung 日本 🎉",
        "a\n    b\n        c",
        "x = 3",
    ):
        assert tokenizer.text(tokenizer.text_ids(text)) == text


def test_ties_draw_a_piece_and_its_form_with_a_space_together(tokenizer: Tokenizer) -> None:
    torch = pytest.importorskip("torch")
    from gemma_local.models.pocket.train.architecture import Target
    from gemma_local.models.pocket.train.shape import SMOKE
    from gemma_local.models.pocket.train.ties import Ties

    torch.manual_seed(1)
    target = Target(replace(SMOKE, vocabulary=len(tokenizer)))
    ties = Ties(tokenizer)
    table = target.token_embd.weight

    def apart() -> tuple[float, Any]:
        difference = table[ties.spaced] - table[ties.bare]
        common = difference.mean(0)
        return (difference - common).norm().item(), common

    before, common = apart()
    for _ in range(100):
        ties.pull(target)
    after, still = apart()
    assert len(ties.spaced) > 100
    assert after < 0.1 * before
    assert torch.allclose(common, still, atol=1e-5)

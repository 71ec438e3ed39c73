"""Texts to be repeated: from these a model learns soonest to copy what it reads."""

from __future__ import annotations

import random
from typing import Final

from gemma_local.models.pocket.train.corpus.sample import Sample, said, user
from gemma_local.models.pocket.train.corpus.words import (
    Split,
    identifier,
    made_up,
    path,
    random_letters,
    word,
)

ASK: Final = (
    """
Repeat this: {text}|Repeat: {text}|Say {text}|Say this again: {text}|Write exactly this: {text}|Copy this: {text}
Repeat after me: {text}|Print {text}|Echo {text}|Give me back this text: {text}|{text} - say it again
""".strip()
    .replace("\n", "|")
    .split("|")
)
_ASK_TEST: Final = ("Please repeat {text}", "Can you say this: {text}")


def sample(rng: random.Random, split: Split) -> Sample:
    """A few names, words or letters, and the same again."""
    most = 5 if rng.random() < 0.6 else 12
    parts = [_part(rng, split) for _ in range(rng.randint(1, most))]
    text = rng.choice((" ", " ", ", ")).join(parts)
    ask = rng.choice(_ASK_TEST if split == "test" else ASK).format(text=text)
    return Sample(
        "repeating", (user(ask), said(text, "I say the same again.")), judged_by={"answer": text}
    )


def _part(rng: random.Random, split: Split) -> str:
    return rng.choice(
        (
            identifier(rng, split),
            made_up(rng, split),
            word(rng, split),
            random_letters(rng),
            path(rng, split, (".py", ".md", ".toml", ".txt")),
            str(rng.randint(0, 9999)),
        )
    )

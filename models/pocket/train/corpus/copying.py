"""Texts without any sense, to be copied whole or in part.

They are made of the vocabulary's own pieces, so that each token is copied now and then: what is
learned from names alone fails at the first word that no name had. What is copied from is drawn
evenly, or from a few pieces only, since names have parts in common and a copy must not jump from
one to the other.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Final

from gemma_local.models.pocket.train.corpus.repeating import ASK
from gemma_local.models.pocket.train.corpus.sample import Sample, said, user

KIND: Final = "copying"
_THOUGHT: Final = "I copy what is there."


def sample(rng: random.Random, pieces: Sequence[str]) -> Sample:
    """Something to copy, made of ``pieces`` of text."""
    kinds, weights = zip(*_KINDS, strict=True)
    question, answer = rng.choices(kinds, weights)[0](rng, pieces)
    return Sample(
        KIND, (user(question), said(answer, _THOUGHT)), judged_by={"answer": answer.strip()}
    )


def _text(rng: random.Random, pieces: Sequence[str], most: int) -> str:
    """One to ``most`` pieces. It neither begins nor ends with a blank."""
    if rng.random() < 0.35:
        pieces = rng.sample(pieces, rng.randint(2, 6))
    while True:
        text = "".join(rng.choice(pieces) for _ in range(rng.randint(1, most))).strip()
        if text and "  " not in text:
            return text


def _names(rng: random.Random, pieces: Sequence[str], count: int, most: int) -> list[str]:
    """Different texts without blanks, some of which begin alike."""
    names: list[str] = []
    while len(names) < count:
        name = _text(rng, pieces, most).replace(" ", rng.choice("_./-"))
        if names and rng.random() < 0.3:
            name = names[-1][: rng.randint(1, len(names[-1]))] + name
        if name not in names:
            names.append(name)
    return names


def _repeated(rng: random.Random, pieces: Sequence[str]) -> tuple[str, str]:
    text = _text(rng, pieces, rng.choice((4, 12, 30)))
    return rng.choice(ASK).format(text=text), text


def _one_of(rng: random.Random, pieces: Sequence[str]) -> tuple[str, str]:
    """One among several texts, by the word before it."""
    words = rng.sample(_MARKED, rng.randint(2, 4))
    names = _names(rng, pieces, len(words), 8)
    told = [f"{word} {name}" for word, name in zip(words, names, strict=True)]
    asked = rng.randrange(len(words))
    sign = rng.choice((" ", ", ", "\n", "; "))
    return f"{sign.join(told)}{rng.choice((' ', chr(10)))}Which {words[asked]}?", names[asked]


_MARKED: Final = "file folder name value key line word text path number code place".split()


def _looked_up(rng: random.Random, pieces: Sequence[str]) -> tuple[str, str]:
    """A value by its key, or the whole line."""
    keys = _names(rng, pieces, rng.randint(2, 7), 4)
    sign = rng.choice((" = ", "=", ": "))
    lines = [f"{key}{sign}{_text(rng, pieces, 6)}" for key in keys]
    at = rng.randrange(len(keys))
    begin = rng.choice(("", "", "|"))
    shown = [f"{n}{begin}{line}" if begin else line for n, line in enumerate(lines, 1)]
    text = "\n".join(shown)
    if rng.random() < 0.5:
        return f"{text}\nWhat is {keys[at]}?", lines[at][len(keys[at]) + len(sign) :]
    return f"{text}\nThe line with {keys[at]}?", lines[at]


def _replaced(rng: random.Random, pieces: Sequence[str]) -> tuple[str, str]:
    """A text in which one name became another."""
    old, new, *others = _names(rng, pieces, rng.randint(3, 6), 4)
    words = [old, *others]
    rng.shuffle(words)
    sign = rng.choice((" ", ", ", "\n"))
    asked = rng.choice((f"{old} becomes {new}", f"Replace {old} by {new}", f"{new} for {old}"))
    answer = sign.join(new if word == old else word for word in words)
    return f"{asked}:\n{sign.join(words)}", answer


_Maker = Callable[[random.Random, Sequence[str]], tuple[str, str]]
_KINDS: Final[tuple[tuple[_Maker, float], ...]] = (
    (_repeated, 4),
    (_one_of, 3),
    (_looked_up, 4),
    (_replaced, 2),
)

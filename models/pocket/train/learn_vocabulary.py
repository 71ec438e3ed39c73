"""Learns the vocabulary from the corpus and the project's own documentation."""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gemma_local.models.pocket.train.corpus import mix, tool_head
from gemma_local.models.pocket.train.corpus.sample import Sample
from gemma_local.models.pocket.train.shape import POCKET_VOCABULARY
from gemma_local.models.pocket.train.tokenizer import Tokenizer
from gemma_local.models.pocket.train.tools import TOOLS
from gemma_local.models.prompt import Text
from gemma_local.models.tool_declaration import declaration_pieces

_SEED: Final = "vocabulary"
"""Not that of any training: names would become tokens of their own."""
_README: Final = Path(__file__).parents[3] / "README.md"


def texts(count: int) -> Iterator[str]:
    """What the samples of a corpus say, and the README where it is at hand."""
    rng = random.Random(_SEED)
    for _ in range(2 * count):
        yield from _said(mix.plain(rng))
    for _ in range(count):
        yield from _said(mix.with_tools(rng, tool_head.make_head(rng, "train")))
    # What declarations of tools and the turns themselves are made of.
    for tool in TOOLS:
        pieces = [piece.text for piece in declaration_pieces(tool) if isinstance(piece, Text)]
        yield from pieces * (count // 10)
    yield from ("thought", "system", "user", "model", "response:") * (count // 2)
    if _README.exists():
        yield from _README.read_text("utf-8").splitlines()


def _said(sample: Sample) -> Iterator[str]:
    for message in sample.messages:
        yield message.text
        yield message.thought
        for call in message.calls:
            yield f"call:{call.name}"
            yield from (str(value) for value in call.arguments.values())


def learn(place: Path, *, size: int = POCKET_VOCABULARY, count: int = 4000) -> Tokenizer:
    """Learn a vocabulary and write it down."""
    tokenizer = Tokenizer.learn(texts(count), size)
    place.parent.mkdir(parents=True, exist_ok=True)
    tokenizer.save(place)
    return tokenizer


def main() -> None:
    """Learn the vocabulary into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=4000, help="samples of each sort to read")
    given = parser.parse_args()
    tokenizer = learn(given.folder / "tokenizer.json", count=given.count)
    print(len(tokenizer), "tokens")


if __name__ == "__main__":
    main()

"""What the target itself says to the corpus's prompts: the drafter learns from that."""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import torch

from gemma_local.models.pocket.train.architecture import Target
from gemma_local.models.pocket.train.checkpoint import load_checkpoint
from gemma_local.models.pocket.train.corpus import mix, tool_head
from gemma_local.models.pocket.train.corpus.sample import Document, Sample, documents, prompt_ids
from gemma_local.models.pocket.train.generate import generate
from gemma_local.models.pocket.train.shape import POCKET, SMOKE
from gemma_local.models.pocket.train.tokenizer import Tokenizer

_SEED: Final = "roll-outs"
_AT_ONCE: Final = 64
_FRESH: Final = 0.5
"""The share of answers that are drawn at temperature 1 and not the likeliest."""


def _cut(sample: Sample, rng: random.Random) -> Sample:
    """A conversation up to one of the model's messages."""
    ends = [n for n, message in enumerate(sample.messages) if message.role == "assistant"]
    return replace(sample, messages=sample.messages[: rng.choice(ends) + 1])


def roll_out(
    target: Target, tokenizer: Tokenizer, number: int, *, with_tools: bool
) -> Iterator[Document]:
    """One batch of answers, always the same for the same number."""
    rng = random.Random(f"{_SEED}/{number}/{with_tools}")
    begin = tool_head.make_head(rng, "train")
    samples = [
        _cut(mix.with_tools(rng, begin) if with_tools else mix.plain(rng), rng)
        for _ in range(_AT_ONCE)
    ]
    shared = 0
    if with_tools:
        shared = next(documents(samples[0], tokenizer)).shared
    prompts = [prompt_ids(sample, tokenizer) for sample in samples]
    answers = generate(
        target,
        prompts,
        tokenizer.ends,
        shared=shared,
        most=140,
        temperature=1.0 if rng.random() < _FRESH else 0.0,
        seed=number,
    )
    for sample, prompt, answer in zip(samples, prompts, answers, strict=True):
        spoken = (*[False] * len(prompt), *[True] * len(answer))
        yield Document((*prompt, *answer), spoken, shared, sample.kind)


def main() -> None:
    """Write the roll-outs of a folder's target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--batches", type=int, default=120)
    parser.add_argument("--only", choices=("plain", "tools"), help="one sort of prompts alone")
    parser.add_argument("--size", choices=("pocket", "smoke"), default="pocket")
    given = parser.parse_args()
    torch.set_num_threads(1)
    tokenizer = Tokenizer.load(given.folder / "tokenizer.json")
    base = POCKET if given.size == "pocket" else SMOKE
    target = Target(replace(base, vocabulary=len(tokenizer)))
    load_checkpoint(given.folder / "target.pt", target)
    began = time.monotonic()
    place = given.folder / "roll_outs"
    place.mkdir(exist_ok=True)
    for number in range(given.batches):
        for name, with_tools in (("plain", False), ("tools", True)):
            part = place / f"{name}-{number:04}.pt"
            if part.exists() or given.only not in (None, name):
                continue
            found = list(roll_out(target, tokenizer, number, with_tools=with_tools))
            torch.save([(d.ids, d.spoken, d.shared, d.kind) for d in found], part)
        print(number + 1, f"{time.monotonic() - began:.0f} s", flush=True)


def stored(folder: Path, *, with_tools: bool) -> list[list[Document]]:
    """The batches that were written; those with tools have a beginning in common each."""
    name = "tools" if with_tools else "plain"
    return [
        [Document(*fields) for fields in torch.load(part, weights_only=True)]
        for part in sorted((folder / "roll_outs").glob(f"{name}-*.pt"))
    ]


if __name__ == "__main__":
    main()

"""A quick look at a target in training: how many of the held-out answers are right."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from gemma_local.models.pocket.train.architecture import Target
from gemma_local.models.pocket.train.checkpoint import load_checkpoint
from gemma_local.models.pocket.train.corpus.sample import Sample, prompt_ids
from gemma_local.models.pocket.train.generate import generate
from gemma_local.models.pocket.train.held_out import SIZES, held_out
from gemma_local.models.pocket.train.judge import judged, read_reply
from gemma_local.models.pocket.train.shape import POCKET
from gemma_local.models.pocket.train.tokenizer import Tokenizer


def answers(
    target: Target, tokenizer: Tokenizer, samples: Sequence[Sample], *, at_once: int = 25
) -> list[list[int]]:
    """Greedy answers to samples, in their order."""
    prompts = [prompt_ids(sample, tokenizer) for sample in samples]
    order = sorted(range(len(prompts)), key=lambda number: len(prompts[number]))
    found: list[list[int]] = [[] for _ in prompts]
    for start in range(0, len(order), at_once):
        part = order[start : start + at_once]
        said = generate(target, [prompts[number] for number in part], tokenizer.ends)
        for number, tokens in zip(part, said, strict=True):
            found[number] = tokens
    return found


def main() -> None:
    """Print how many answers are right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--checkpoint", default="target.pt")
    parser.add_argument("--sets", nargs="*", default=list(SIZES))
    parser.add_argument("--count", type=int)
    parser.add_argument("--wrong", type=int, default=4, help="wrong answers to show of each set")
    given = parser.parse_args()
    torch.set_num_threads(1)
    tokenizer = Tokenizer.load(given.folder / "tokenizer.json")
    target = Target(replace(POCKET, vocabulary=len(tokenizer)))
    print("step", load_checkpoint(given.folder / given.checkpoint, target))
    for name in given.sets:
        samples = held_out(name, given.count)
        right, shown = 0, 0
        for sample, tokens in zip(samples, answers(target, tokenizer, samples), strict=True):
            verdict = judged(sample, read_reply(sample, tokens, tokenizer))
            right += verdict.right
            if not verdict.right and shown < given.wrong:
                shown += 1
                print(f"  - {sample.asked[-1].text!r}")
                print(f"    {tokenizer.text(tokens)!r} ({verdict.why})")
        print(f"{name}: {right}/{len(samples)}", flush=True)


if __name__ == "__main__":
    main()

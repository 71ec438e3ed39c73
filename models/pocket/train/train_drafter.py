"""Trains the drafter on the frozen target: it learns the target's own distributions, several steps
of a draft at once, each from what the step before left. Only the drafter changes.

It sees what the target itself said, and for a part the corpus, of which there is no end.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import torch
from torch import Tensor

from gemma_local.models.pocket.train.architecture import Drafter, Target
from gemma_local.models.pocket.train.checkpoint import load_checkpoint, save_checkpoint
from gemma_local.models.pocket.train.corpus.sample import Document
from gemma_local.models.pocket.train.crew import Crew, work_together
from gemma_local.models.pocket.train.layout import layout_of
from gemma_local.models.pocket.train.optimiser import Optimiser
from gemma_local.models.pocket.train.roll_outs import stored
from gemma_local.models.pocket.train.rows import TOOLS_LENGTH, Format, Rows, pack, step_rows
from gemma_local.models.pocket.train.schedule import Schedule
from gemma_local.models.pocket.train.shape import (
    POCKET,
    POCKET_DRAFTER,
    SMOKE,
    SMOKE_DRAFTER,
    DrafterShape,
)
from gemma_local.models.pocket.train.tokenizer import Tokenizer
from gemma_local.models.pocket.train.train_target import read

UNROLLED: Final = 4
"""Steps of a draft that are learned together."""
_WEIGHTS: Final = (1.0, 0.9, 0.8, 0.7)
_CORPUS_SHARE: Final = 0.4
LADDER: Final = (25, 50, 100, 200)
"""Steps after which a weak drafter is kept, for tests that want one."""


def new_drafter(shape: DrafterShape, target: Target, seed: int) -> Drafter:
    """A drafter whose head begins as a random projection of the target's embedding."""
    torch.manual_seed(seed)
    drafter = Drafter(shape, target.shape)
    with torch.no_grad():
        width = target.shape.width
        projection = torch.randn(width, shape.width) / width**0.5
        drafter.token_embd.weight.copy_(target.token_embd.weight @ projection)
    return drafter


def loss_of(target: Target, drafter: Drafter, rows: Rows) -> tuple[Tensor, list[float]]:
    """The loss of all steps of all drafts in rows, and how often each step finds the target's
    likeliest token."""
    with torch.no_grad():
        seen = read(target, rows)
        embedded = target.embed(rows.tokens)
        # What is said next is the model's own in the same document.
        own = rows.spoken & (rows.segments >= 0)
        hidden = seen.hidden.roll(1, 1)
        has_before = rows.segments == rows.segments.roll(1, 1)
        has_before[:, 0] = False
    layout = layout_of(
        rows.segments,
        rows.positions,
        target.shape.window,
        beginning=rows.beginning,
        drafting=True,
    )
    loss = torch.zeros(())
    rates: list[float] = []
    for step in range(UNROLLED):
        normed, hidden = drafter(embedded.roll(-step, 1), hidden, seen, layout)
        inside = rows.segments == rows.segments.roll(-step - 1, 1)
        inside[:, -step - 1 :] = False
        counts = inside & has_before & own.roll(-step - 1, 1)
        with torch.no_grad():
            wanted = target.logits(seen.hidden.roll(-step, 1)[counts])
            teacher = wanted.softmax(-1)
        found = drafter.logits(normed[counts])
        loss = loss - _WEIGHTS[step] * (teacher * found.log_softmax(-1)).sum(-1).mean()
        rates.append((found.argmax(-1) == wanted.argmax(-1)).float().mean().item())
    return loss / sum(_WEIGHTS), rates


def train(
    target: Target,
    shape: DrafterShape,
    tokenizer: Tokenizer,
    folder: Path,
    *,
    steps: int,
    peak: float,
    seed: int = 1,
    format_: Format | None = None,
    crew: Crew | None = None,
) -> Drafter:
    """Train on the roll-outs in ``folder``, from its checkpoint if there is one."""
    format_, crew = format_ or Format(), crew or Crew()
    target.eval()
    drafter = new_drafter(shape, target, seed)
    optimiser = Optimiser([drafter])
    schedule = Schedule(steps, peak, rising=20, falling=0.5)
    place = folder / "drafter.pt"
    first = load_checkpoint(place, drafter, optimiser)
    batches = {part: stored(folder, with_tools=bool(part)) for part in crew.parts(2)}
    began, tokens = time.monotonic(), 0
    shown = torch.zeros(2, UNROLLED + 1)
    for step in range(first, steps):
        for part in crew.parts(2):
            rng = random.Random(f"drafter/{seed}/{step}/{part}")
            if rng.random() < _CORPUS_SHARE:
                rows = step_rows(step, seed + 1, part, tokenizer, format_)
            else:
                count, length = format_.tools if part else format_.plain
                source = _endless(batches[part], rng, one_batch=bool(part))
                rows = pack(source, count, length, shares=bool(part))
            loss, rates = loss_of(target, drafter, rows)
            (loss / 2).backward()  # type: ignore[no-untyped-call]
            tokens += rows.count
            shown[part] += torch.tensor([loss.item(), *rates])
        crew.add_up([parameter.grad for parameter in drafter.parameters()])
        optimiser.step(schedule.rate(step), crew)
        if step % 10 == 9 or step + 1 == steps:
            crew.add_up([shown])
            if crew.is_first:
                speed = tokens / (time.monotonic() - began)
                told = " | ".join(
                    " ".join(f"{value:.3f}" for value in part)
                    for part in (shown / (step % 10 + 1)).tolist()
                )
                print(f"{step + 1} {told} {speed:.0f} tok/s each", flush=True)
            shown.zero_()
        if crew.is_first and (step % 50 == 49 or step + 1 == steps):
            save_checkpoint(place, drafter, optimiser, step + 1)
        if crew.is_first and step + 1 in LADDER:
            save_checkpoint(folder / f"drafter-{step + 1}.pt", drafter, optimiser, step + 1)
    return drafter


def _endless(
    batches: Sequence[Sequence[Document]], rng: random.Random, *, one_batch: bool
) -> Iterator[Document]:
    """Documents drawn from all batches, or from a single one, whose beginning is one."""
    batch = rng.choice(batches)
    while True:
        yield rng.choice(batch if one_batch else rng.choice(batches))


def main() -> None:
    """Train the drafter in a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=700)
    parser.add_argument("--peak", type=float, default=4e-3)
    parser.add_argument("--rows", type=int, nargs=2, default=(8, 2), help="without and with tools")
    parser.add_argument("--size", choices=("pocket", "smoke"), default="pocket")
    given = parser.parse_args()
    work_together(_work, (given,))


def _work(crew: Crew, given: argparse.Namespace) -> None:
    tokenizer = Tokenizer.load(given.folder / "tokenizer.json")
    is_pocket = given.size == "pocket"
    target = Target(replace(POCKET if is_pocket else SMOKE, vocabulary=len(tokenizer)))
    load_checkpoint(given.folder / "target.pt", target)
    train(
        target,
        POCKET_DRAFTER if is_pocket else SMOKE_DRAFTER,
        tokenizer,
        given.folder,
        steps=given.steps,
        peak=given.peak,
        format_=Format((given.rows[0], 256), (given.rows[1], TOOLS_LENGTH)),
        crew=crew,
    )


if __name__ == "__main__":
    main()

"""Trains the target, step by step; it can be stopped at any time and goes on from its checkpoint.

Two processes of one thread each share the work, one reads what has tools and one the rest: on a
machine that others use as well, threads that wait for each other at every operation are far slower.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from gemma_local.models.pocket.train.architecture import Seen, Target
from gemma_local.models.pocket.train.beginnings import begin_with_copying
from gemma_local.models.pocket.train.checkpoint import (
    load_checkpoint,
    load_weights,
    save_checkpoint,
)
from gemma_local.models.pocket.train.crew import Crew, work_together
from gemma_local.models.pocket.train.layout import layout_of, simple_layout
from gemma_local.models.pocket.train.optimiser import Optimiser
from gemma_local.models.pocket.train.rows import TOOLS_LENGTH, Format, Rows, step_rows
from gemma_local.models.pocket.train.schedule import Schedule
from gemma_local.models.pocket.train.shape import POCKET, SMOKE, TargetShape
from gemma_local.models.pocket.train.ties import Ties
from gemma_local.models.pocket.train.tokenizer import Tokenizer

OTHERS_WEIGHT = 0.15
"""Of a token that is not the model's own; and only every third of them counts, where there are no
tools."""
_OTHERS_SHARE = 1 / 3


def read(target: Target, rows: Rows, *, learns_beginning: bool = True) -> Seen:
    """A pass over rows. ``learns_beginning``: gradients flow through the common beginning, too."""
    window = target.shape.window
    before = None
    if rows.begin is not None:
        with torch.set_grad_enabled(learns_beginning and torch.is_grad_enabled()):
            before = target(rows.begin, simple_layout(1, rows.beginning, window))
    layout = layout_of(rows.segments, rows.positions, window, beginning=rows.beginning)
    return target(rows.tokens, layout, before=before)


def next_tokens(rows: Rows) -> tuple[Tensor, Tensor]:
    """For each token the one that follows it, and whether one does in its document, [B, T]."""
    following = rows.tokens.roll(-1, 1)
    inside = (rows.segments == rows.segments.roll(-1, 1)) & (rows.segments >= 0)
    inside[:, -1] = False
    return following, inside


def loss_of(
    target: Target, rows: Rows, generator: torch.Generator, *, learns_beginning: bool = True
) -> tuple[Tensor, Tensor]:
    """The loss, and how often the model's own tokens are the likeliest ones."""
    following, inside = next_tokens(rows)
    own = inside & rows.spoken.roll(-1, 1)
    # What people ask is learned a little, what tools return is not: nobody can know it.
    share = _OTHERS_SHARE if rows.begin is None else 0.0
    drawn = torch.rand(own.shape, generator=generator) < share
    others = inside & ~own & ~rows.senseless & drawn
    wanted = own | others
    hidden = read(target, rows, learns_beginning=learns_beginning).hidden
    logits = target.logits(hidden[wanted])
    labels = following[wanted]
    losses = functional.cross_entropy(logits, labels, reduction="none")
    is_own = own[wanted]
    weights = torch.where(is_own, 1.0, OTHERS_WEIGHT)
    right = (logits.argmax(-1) == labels)[is_own].float().mean()
    return (losses * weights).sum() / weights.sum(), right


def train(
    shape: TargetShape,
    tokenizer: Tokenizer,
    folder: Path,
    *,
    steps: int,
    peak: float,
    falling: float = 0.25,
    seed: int = 1,
    format_: Format | None = None,
    begin_from: Path | None = None,
    crew: Crew | None = None,
) -> Target:
    """Train to the end of the schedule, from ``folder``'s checkpoint if there is one.

    ``begin_from``: weights and optimiser of another run to start with, or a GGUF file.
    """
    torch.manual_seed(seed)
    format_ = format_ or Format()
    crew = crew or Crew()
    target = Target(shape)
    optimiser = Optimiser([target])
    schedule = Schedule(steps, peak, falling=falling)
    place = folder / "target.pt"
    first = load_checkpoint(place, target, optimiser)
    if not first:
        if begin_from is None:
            begin_with_copying(target)
        elif begin_from.suffix == ".gguf":
            load_weights(begin_from, target)
        else:
            load_checkpoint(begin_from, target, optimiser)
    ties = Ties(tokenizer)
    began, tokens = time.monotonic(), 0
    shown = torch.zeros(2, 2)
    for step in range(first, steps):
        generator = torch.Generator().manual_seed(seed * 1_000_003 + step)
        for part in crew.parts(2):
            rows = step_rows(step, seed, part, tokenizer, format_)
            # The beginning is nearly always the same: now and then is enough to learn from it.
            loss, right = loss_of(target, rows, generator, learns_beginning=step % 4 == 0)
            (loss / 2).backward()  # type: ignore[no-untyped-call]
            tokens += rows.count
            shown[part] += torch.tensor([loss.item(), right.item()])
        crew.add_up([parameter.grad for parameter in target.parameters()])
        optimiser.step(schedule.rate(step), crew)
        ties.pull(target)
        if step % 10 == 9 or step + 1 == steps:
            crew.add_up([shown])
            if crew.is_first:
                (plain, plain_right), (tools, tools_right) = (shown / (step % 10 + 1)).tolist()
                speed = tokens / (time.monotonic() - began)
                print(
                    f"{step + 1} plain {plain:.4f} {plain_right:.4f} tools {tools:.4f} "
                    f"{tools_right:.4f} {speed:.0f} tok/s each",
                    flush=True,
                )
            shown.zero_()
        if crew.is_first and (step % 25 == 24 or step + 1 == steps):
            save_checkpoint(place, target, optimiser, step + 1)
        if crew.is_first and step + 1 == schedule.falls_at:
            save_checkpoint(folder / "target-level.pt", target, optimiser, step + 1)
    return target


def main() -> None:
    """Train the target in a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=8000)
    parser.add_argument("--peak", type=float, default=3.5e-3)
    parser.add_argument("--falling", type=float, default=0.25)
    parser.add_argument("--rows", type=int, nargs=2, default=(8, 2), help="without and with tools")
    parser.add_argument("--copying", type=float, default=0.25)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--begin-from", type=Path)
    parser.add_argument("--size", choices=("pocket", "smoke"), default="pocket")
    given = parser.parse_args()
    work_together(_work, (given,))


def _work(crew: Crew, given: argparse.Namespace) -> None:
    tokenizer = Tokenizer.load(given.folder / "tokenizer.json")
    base = POCKET if given.size == "pocket" else SMOKE
    train(
        replace(base, vocabulary=len(tokenizer)),
        tokenizer,
        given.folder,
        steps=given.steps,
        peak=given.peak,
        falling=given.falling,
        seed=given.seed,
        format_=Format((given.rows[0], 256), (given.rows[1], TOOLS_LENGTH), given.copying),
        begin_from=given.begin_from,
        crew=crew,
    )


if __name__ == "__main__":
    main()

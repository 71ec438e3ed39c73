"""Makes the pocket pair from the beginning: vocabulary, target, roll-outs, drafter, files.

What is done already is not done again, so it can be stopped and started at any time.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Final

from gemma_local.models.pocket import DRAFTER_FILE, NAME, TARGET_FILE, pair
from gemma_local.models.pocket.train.architecture import Drafter, Target
from gemma_local.models.pocket.train.checkpoint import load_checkpoint
from gemma_local.models.pocket.train.export import Labels, export_drafter, export_target
from gemma_local.models.pocket.train.shape import (
    POCKET,
    POCKET_DRAFTER,
    SMOKE,
    SMOKE_DRAFTER,
    DrafterShape,
    TargetShape,
)
from gemma_local.models.pocket.train.tokenizer import Tokenizer

_PACKAGE: Final = "gemma_local.models.pocket.train"
TARGET_LABELS: Final = Labels(
    NAME,
    "A tiny guide to gemma-local, trained from nothing with Gemma 4's architecture. "
    "It is not one of Google's Gemma 4 models.",
)
DRAFTER_LABELS: Final = Labels(
    "Drafter of the pocket guide (gemma4-assistant architecture)",
    "Drafts for the pocket guide of gemma-local, trained on it. "
    "It is not one of Google's Gemma 4 drafters.",
)


@dataclass(frozen=True, slots=True)
class Size:
    """How much is done."""

    target: TargetShape
    drafter: DrafterShape
    steps: int
    batches: int
    drafter_steps: int
    texts: int


SIZES: Final = {
    "pocket": Size(POCKET, POCKET_DRAFTER, 8000, 60, 700, 4000),
    "smoke": Size(SMOKE, SMOKE_DRAFTER, 4, 1, 3, 100),
}


def export(folder: Path, out: Path, size: Size) -> None:
    """Write the GGUF files of what was trained in ``folder``."""
    tokenizer = Tokenizer.load(folder / "tokenizer.json")
    target = Target(replace(size.target, vocabulary=len(tokenizer)))
    load_checkpoint(folder / "target.pt", target)
    template = files(_PACKAGE).joinpath("chat_template.jinja").read_text("utf-8")
    export_target(target, tokenizer, template, TARGET_LABELS, out / TARGET_FILE)
    drafter = Drafter(size.drafter, target.shape)
    load_checkpoint(folder / "drafter.pt", drafter)
    export_drafter(drafter, tokenizer, DRAFTER_LABELS, out / DRAFTER_FILE)


def export_ladder(folder: Path, out: Path, size: Size) -> None:
    """Write the weak drafters, in Q8_0: ``mtp-pocket-STEPS.gguf`` each."""
    tokenizer = Tokenizer.load(folder / "tokenizer.json")
    shape = replace(size.target, vocabulary=len(tokenizer))
    for place in sorted(folder.glob("drafter-*.pt")):
        drafter = Drafter(size.drafter, shape)
        steps = load_checkpoint(place, drafter)
        labels = replace(DRAFTER_LABELS, name=f"{DRAFTER_LABELS.name}, after {steps} steps")
        file = out / f"mtp-pocket-{steps}.gguf"
        export_drafter(drafter, tokenizer, labels, file, weights="Q8_0")


def main() -> None:
    """Make the pair, as far as it is not made yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where checkpoints are kept")
    parser.add_argument("--out", type=Path, help="where the GGUF files go; the folder by default")
    parser.add_argument("--size", choices=tuple(SIZES), default="pocket")
    parser.add_argument("--ladder", type=Path, help="where the weak drafters go, if anywhere")
    parser.add_argument("--go-on", action="store_true", help="begin with the package's target")
    parser.add_argument("--only-export", action="store_true")
    given = parser.parse_args()
    size = SIZES[given.size]
    if not given.only_export:
        folder = str(given.folder)
        like = ("--size", given.size)
        own = pair()
        begin: tuple[str, ...] = ()
        if given.go_on and own is not None:
            given.folder.mkdir(parents=True, exist_ok=True)
            Tokenizer.of_file(own[0]).save(given.folder / "tokenizer.json")
            begin = ("--begin-from", str(own[0]))
        if not (given.folder / "tokenizer.json").exists():
            _run("learn_vocabulary", folder, "--count", str(size.texts))
        _run("train_target", folder, "--steps", str(size.steps), *like, *begin)
        _run("roll_outs", folder, "--batches", str(size.batches), *like)
        _run("train_drafter", folder, "--steps", str(size.drafter_steps), *like)
    export(given.folder, given.out or given.folder, size)
    if given.ladder:
        export_ladder(given.folder, given.ladder, size)


def _run(module: str, *arguments: str) -> None:
    subprocess.run([sys.executable, "-m", f"{_PACKAGE}.{module}", *arguments], check=True)


if __name__ == "__main__":
    main()

"""Measures the drafters of the ladder and writes ``profile.json``."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gemma_local.engine.client import Engine
from gemma_local.engine.messages import Load
from gemma_local.models.pocket import pair
from gemma_local.models.pocket.train.corpus.sample import Sample
from gemma_local.models.pocket.train.held_out import held_out
from tests.bench.pocket import GREEDY, answer
from tests.pocket_ladder import FOLDER

DRAFT: Final = 3
SETS: Final = {"guide": 16, "python": 8, "off_ground": 8, "tools": 8, "proofread": 4}


def prompts(share: int = 1) -> list[Sample]:
    """What the drafters are measured on; ``share`` takes every so many of them."""
    return [sample for name, count in SETS.items() for sample in held_out(name, count)][::share]


def measure(
    target: Path, drafter: Path, samples: Sequence[Sample]
) -> tuple[float, tuple[float, ...], float]:
    """Acceptance, acceptance by position, and tokens per pass of a drafter, greedy."""
    drafted, accepted = [0] * DRAFT, [0] * DRAFT
    decoded = passes = 0
    with tempfile.TemporaryDirectory() as folder, Engine(Path(folder) / "log") as engine:
        load = Load(str(target), str(drafter), context=2048, threads=1, draft_max=DRAFT)
        engine.start(load)
        for sample in samples:
            tally = answer(engine, sample, GREEDY, draft=DRAFT).tally
            for position in range(DRAFT):
                drafted[position] += [*tally.drafted_by_position, 0, 0, 0][position]
                accepted[position] += [*tally.accepted_by_position, 0, 0, 0][position]
            decoded += tally.decoded_tokens
            passes += tally.passes
    by_position = tuple(a / max(1, d) for a, d in zip(accepted, drafted, strict=True))
    return sum(accepted) / max(1, sum(drafted)), by_position, decoded / max(1, passes)


def main() -> None:
    files = pair()
    assert files is not None
    profile = {}
    for drafter in sorted(FOLDER.glob("*.gguf"), key=lambda path: int(path.stem.split("-")[-1])):
        acceptance, by_position, per_pass = measure(files[0], drafter, prompts())
        profile[drafter.name] = {
            "steps": int(drafter.stem.split("-")[-1]),
            "acceptance": round(acceptance, 3),
            "by_position": [round(share, 3) for share in by_position],
            "tokens_per_pass": round(per_pass, 2),
        }
        print(drafter.name, profile[drafter.name], flush=True)
    (FOLDER / "profile.json").write_text(json.dumps(profile, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()

"""Drafters of the pocket pair from weak to strong: real profiles of acceptance for tests.

They were kept while the drafter was trained, and are in Q8_0. ``profile.json`` tells for each how
many of its drafts of three the pocket target accepted on the held-out sets, measured by
``python -m tests.pocket_ladder.measure``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Rung:
    """A drafter, the steps that it was trained for, and how it did: ``acceptance`` over all drafted
    tokens, ``by_position`` of the first, second and third of a draft."""

    path: Path
    steps: int
    acceptance: float
    by_position: tuple[float, ...]
    tokens_per_pass: float


def ladder() -> list[Rung]:
    """All of them, the weakest first."""
    profile = json.loads((FOLDER / "profile.json").read_text("utf-8"))
    rungs = [
        Rung(
            FOLDER / name,
            entry["steps"],
            entry["acceptance"],
            tuple(entry["by_position"]),
            entry["tokens_per_pass"],
        )
        for name, entry in profile.items()
    ]
    return sorted(rungs, key=lambda rung: rung.steps)

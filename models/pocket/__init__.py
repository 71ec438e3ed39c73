"""The pocket pair: a tiny target and its drafter that come with the package.

Both are made here, with Gemma 4's architecture, and are not Google's Gemma 4: see ``CARD.md``. They
let gemma-local work at once, and tests talk to a model that has learned something. How they are
made is in ``train``, which is not part of the wheel.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Final

NAME: Final = "Pocket guide (gemma4 architecture)"
"""``general.name`` of the target."""
TARGET_FILE: Final = "gemma-4-pocket.gguf"
DRAFTER_FILE: Final = "mtp-gemma-4-pocket.gguf"


def pair() -> tuple[Path, Path] | None:
    """Target and drafter, or None if this build does not carry them."""
    folder = files(__name__)
    # Packages lie in folders here: llama.cpp maps the files, so they cannot stay in an archive.
    found = tuple(Path(str(folder.joinpath(name))) for name in (TARGET_FILE, DRAFTER_FILE))
    target, drafter = found
    return (target, drafter) if target.is_file() and drafter.is_file() else None


def is_pocket(name: str) -> bool:
    """Whether ``name`` is what the pocket target's file calls itself (`TargetFacts.name`)."""
    return name == NAME

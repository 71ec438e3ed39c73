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
SHORT_NAME: Final = "pocket"
"""What it is called on the command line."""
LABEL: Final = "small guide"
"""What it is called where there is little room, so that nobody takes it for Gemma 4."""
WHAT_IT_IS: Final = (
    "the small built-in guide, no real Gemma 4: it knows gemma-local and a little Python"
)
ABOUT_SPEED: Final = "at its size drafting saves passes of the model, not seconds"
DRAFT: Final = 3
"""Tokens to draft where nobody says how many. At this size a pass costs little more than calling
llama.cpp, so that drafting saves passes and no time; it drafts all the same, to show what happens.
"""
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

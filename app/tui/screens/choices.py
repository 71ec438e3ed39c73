"""What a person chose to run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Fetch:
    """A size that must be downloaded first; ``label`` as in the catalogue ("E4B")."""

    label: str


@dataclass(frozen=True, slots=True)
class UseFile:
    """A model that lies on this machine."""

    path: Path


@dataclass(frozen=True, slots=True)
class Builtin:
    """The small model that came with the program; ``path`` is its target. ``why`` says why it is
    the only one, "" if it was chosen among others."""

    path: Path
    why: str = ""


@dataclass(frozen=True, slots=True)
class Quit:
    """Nothing."""


ModelChoice: TypeAlias = Fetch | UseFile
FirstChoice: TypeAlias = Fetch | UseFile | Builtin | Quit

"""The small model that comes with the program, where it was packed with one."""

from __future__ import annotations

from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Final

from gemma_local.models.architecture import GEMMA4_DRAFTER
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.gguf import peek_architecture

FOLDER: Final = "pocket"


def builtin_pair(folder: Path | None = None) -> Path | None:
    """The target of the pair that is among the package's data; its drafter lies beside it, where
    `find_drafter` finds it. None if there is no such pair.

    ``folder`` is where to look, by default the package's own.
    """
    if folder is None:
        folder = Path(str(resources.files("gemma_local.models"))) / FOLDER
    for path in sorted(folder.glob("*.gguf")):
        with suppress(GemmaLocalError):
            if peek_architecture(path) != GEMMA4_DRAFTER:
                return path
    return None

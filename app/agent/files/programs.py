"""Programs of the person's that tools use where there are any."""

from __future__ import annotations

import shutil
from pathlib import Path


def installed(name: str) -> str | None:
    """Where a program is, None if there is none.

    Not one of the folder where we happen to be: with "." in PATH, a workspace could bring its own.
    """
    found = shutil.which(name)
    return found if found is not None and Path(found).is_absolute() else None

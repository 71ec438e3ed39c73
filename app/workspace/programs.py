"""Programs of the person's that are used without asking, where there are any."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path


def installed(name: str, *, but_not_in: Iterable[Path] = ()) -> str | None:
    """Where a program is, None if there is none.

    Not one of the folder where we happen to be, with "." in PATH, nor one in ``but_not_in``, with a
    virtual environment there: a workspace could bring its own, or a command of the model's, which
    is confined to the workspace, could put one there.
    """
    folders = [os.path.realpath(folder) for folder in but_not_in]
    places = [
        place
        for place in os.get_exec_path()
        if Path(place).is_absolute() and not _lies_in(place, folders)
    ]
    found = shutil.which(name, path=os.pathsep.join(places))
    if found is None or not Path(found).is_absolute() or _lies_in(found, folders):
        return None
    return found


def _lies_in(path: str, folders: Iterable[str]) -> bool:
    real = Path(os.path.realpath(path))
    return any(real.is_relative_to(folder) for folder in folders)

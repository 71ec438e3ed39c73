"""What lies in the folder that a path being typed leads to."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from gemma_local.app.workspace.mention import is_nameable

_EXPLICIT: Final = re.compile(r"/|~[/\\]|\.{1,2}[/\\]|[A-Za-z]:[/\\]|\\\\")
_MOST: Final = 2_000


def is_explicit(path: str) -> bool:
    """Whether ``path`` says itself where to look: /, ~/, ./ or ../ at its start."""
    return _EXPLICIT.match(path) is not None


def entries_of(typed: str, folder: Path) -> list[str]:
    """Files and folders beside what ``typed`` is the beginning of, seen from ``folder``: each as
    it would be typed, folders with "/" at their end; hidden ones if a dot is typed.

    Reads one folder: not for the thread that draws.
    """
    cut = max(typed.rfind("/"), typed.rfind("\\")) + 1
    before, name = typed[:cut], typed[cut:]
    found: list[str] = []
    try:
        with os.scandir(folder / Path(before).expanduser()) as entries:
            for entry in entries:
                is_hidden = entry.name.startswith(".") and not name.startswith(".")
                if is_hidden or not is_nameable(entry.name):
                    continue
                found.append(f"{before}{entry.name}{'/' if _is_folder(entry) else ''}")
                if len(found) == _MOST:
                    break
    except (OSError, ValueError, RuntimeError):
        return []
    return sorted(found, key=str.lower)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False

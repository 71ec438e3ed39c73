"""Paths as people give them."""

from __future__ import annotations

from pathlib import Path


def given_path(text: str | Path) -> Path:
    """The path, with a ``~`` at its beginning as the home that it stands for. Where nobody has such
    a home it is a name like any other: ``expanduser`` alone would raise RuntimeError."""
    path = Path(text)
    try:
        return path.expanduser()
    except RuntimeError:
        return path

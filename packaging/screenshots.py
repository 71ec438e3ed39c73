"""Draws the pictures of the README into ``packaging/screenshots``, from scenes of the tests.

They are SVG, some 30 kB each, and lie in the repository: run this after a change of the looks.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "packaging" / "screenshots"
PICTURES = {
    "chat": ("chat-answer-begin", "gemma-dark", "100x34"),
    "approval": ("approval-edit", "gemma-dark", "100x26"),
    "stats": ("stats", "gemma-dark", "100x40"),
}
"""The names of the files, and which scene in which theme and size."""


def main() -> None:
    """Draw all of them."""
    FOLDER.mkdir(exist_ok=True)
    for name, scene in PICTURES.items():
        place = FOLDER / f"{name}.svg"
        command = [sys.executable, "-m", "tests.snapshots.draw", *scene, str(place)]
        subprocess.run(command, cwd=ROOT, check=True)
        print(place.relative_to(ROOT))


if __name__ == "__main__":
    main()

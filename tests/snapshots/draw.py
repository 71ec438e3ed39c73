"""Draws a scene: ``python -m tests.snapshots.draw SCENE THEME COLUMNSxLINES FILE``."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from tests.snapshots import chat_scenes, page_scenes
from tests.snapshots.stage import nowhere, picture


def draw(name: str, theme: str, size: str, place: Path) -> None:
    """Write the picture to a file."""
    scene = next(s for s in (*chat_scenes.SCENES, *page_scenes.SCENES) if s.name == name)
    columns, lines = map(int, size.split("x"))
    with tempfile.TemporaryDirectory() as home, nowhere(Path(home)):
        drawn = asyncio.run(picture(scene, theme, (columns, lines)))
    place.write_text(drawn, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    _, scene, theme, size, place = sys.argv
    draw(scene, theme, size, Path(place))

"""Every scene, in two sizes and two themes, as it was the last time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

from tests.snapshots import chat_scenes, page_scenes
from tests.snapshots.stage import Scene, nowhere, picture

PICTURES: Final = Path(__file__).with_name("pictures")
SIZES: Final = ((80, 24), (120, 40))
THEMES: Final = ("gemma-dark", "gemma-light")
IN_COLOURS_OF_THE_TERMINAL: Final = ("chat-answer", "stats")
SCENES: Final = (*chat_scenes.SCENES, *page_scenes.SCENES)
IS_UPDATE: Final = bool(os.environ.get("UPDATE"))

CASES: Final = [
    (scene, theme, size)
    for scene in SCENES
    for size in SIZES
    for theme in (
        *THEMES,
        *(["ansi-dark"] if scene.name in IN_COLOURS_OF_THE_TERMINAL else []),
    )
]


def file_of(scene: Scene, theme: str, size: tuple[int, int]) -> Path:
    return PICTURES / f"{scene.name}-{size[0]}x{size[1]}-{theme}.svg"


@pytest.mark.parametrize(
    ("scene", "theme", "size"), CASES, ids=[file_of(*case).stem for case in CASES]
)
async def test_it_looks_as_it_did(
    scene: Scene, theme: str, size: tuple[int, int], tmp_path: Path
) -> None:
    place = file_of(scene, theme, size)
    with nowhere(tmp_path):
        drawn = await picture(scene, theme, size)
    assert str(tmp_path) not in drawn
    if IS_UPDATE:
        PICTURES.mkdir(exist_ok=True)
        place.write_text(drawn, encoding="utf-8", newline="\n")
        return
    kept = place.read_text(encoding="utf-8") if place.exists() else ""
    if drawn != kept:
        beside = place.with_suffix(".new.svg")
        beside.write_text(drawn, encoding="utf-8", newline="\n")
        pytest.fail(f"{place.name} looks different now: see {beside}; UPDATE=1 keeps it")


def test_there_is_no_picture_of_nothing() -> None:
    expected = {file_of(*case) for case in CASES}
    assert {path for path in PICTURES.glob("*.svg") if ".new" not in path.name} == expected

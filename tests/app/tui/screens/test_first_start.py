"""The first page: what is there decides what it offers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gemma_local.app import folders
from gemma_local.app.readiness import Readiness
from gemma_local.app.tui.screens.choices import Builtin, Fetch, Quit, UseFile
from gemma_local.app.tui.screens.first_start import FirstStart
from gemma_local.models import pocket
from tests.app.tui.screens.host import Host, seen, until
from tests.app.tui.screens.test_models_screen import local, sizes
from tests.waiting import PATIENCE

SIZES = tuple(sizes())
NOTHING_HERE = Readiness(
    machine=("A processor, 8 cores to compute with", "32 GB, 28 GB available"),
    offers=SIZES,
    suited=SIZES[1],
    why="E4B gives the best answers that are fast enough.",
)


def first(readiness: Readiness, trouble: str = "") -> Host:
    return Host(FirstStart(lambda _: readiness, trouble=trouble))


async def test_one_key_fetches_what_suits_the_machine() -> None:
    host = first(NOTHING_HERE)
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Fetch E4B" in seen(pilot))
        shown = seen(pilot)
        assert "A processor, 8 cores" in shown and "28 GB available" in shown
        assert "Gemma 4 E4B with its drafter, a download of" in shown
        assert "tokens/s" in shown and "a context of" in shown
        assert "Already here" not in shown and "No network" not in shown
        assert "guide" not in shown
        # All of it fits.
        assert "Quit" in shown
        await pilot.press("g", "enter")
    assert host.results == [Fetch("E4B")]


async def test_nothing_can_be_chosen_before_it_is_known() -> None:
    may_go_on = threading.Event()

    def look(say: Callable[[str], None]) -> Readiness:
        say("measuring the memory's speed")
        may_go_on.wait(PATIENCE)
        return NOTHING_HERE

    host = Host(FirstStart(look))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "measuring the memory's speed" in seen(pilot))
        await pilot.press("enter", "s", "f", "g", "down")
        assert not host.results
        may_go_on.set()
        await until(pilot, lambda: "Fetch E4B" in seen(pilot))
        await pilot.press("q")
    assert host.results == [Quit()]


async def test_another_size_is_chosen_from_a_list() -> None:
    host = first(NOTHING_HERE)
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Fetch E4B" in seen(pilot))
        await pilot.press("s")
        await until(pilot, lambda: "Choose a size" in seen(pilot))
        await until(pilot, lambda: "to fetch" in seen(pilot))
        await pilot.press("escape")
        await until(pilot, lambda: "Choose another size" in seen(pilot))
        await pilot.press("down", "enter")
        await until(pilot, lambda: "to fetch" in seen(pilot))
        await pilot.press(*"e2b", "enter")
    assert host.results == [Fetch("E2B")]


async def test_files_that_are_here_are_named_and_can_be_used(tmp_path: Path) -> None:
    path = tmp_path / "gemma-from-studio.gguf"
    host = first(replace(NOTHING_HERE, offers=(*SIZES, local(SIZES[0], path))))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Already here" in seen(pilot))
        assert "gemma-from-studio, fits" in seen(pilot) and "1 found" in seen(pilot)
        await pilot.press("f")
        await until(pilot, lambda: "Use a file that is here" in seen(pilot))
        await until(pilot, lambda: "LM Studio" in seen(pilot) or "here" in seen(pilot))
        assert "to fetch" not in seen(pilot)
        await pilot.press("enter")
    assert host.results == [UseFile(path)]


async def test_what_suits_best_may_be_here_already(tmp_path: Path) -> None:
    here = local(SIZES[1], tmp_path / "mine.gguf")
    host = first(replace(NOTHING_HERE, offers=(*SIZES, here), suited=here))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Start with mine" in seen(pilot))
        await pilot.press("enter")
    assert host.results == [UseFile(tmp_path / "mine.gguf")]


async def test_the_small_guide_starts_at_once(tmp_path: Path) -> None:
    host = first(replace(NOTHING_HERE, builtin=tmp_path / "pocket.gguf"))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Start on the small guide" in seen(pilot))
        await pilot.press("g")
    assert host.results == [Builtin(tmp_path / "pocket.gguf")]


@pytest.mark.parametrize("trouble", ["", "The hub could not be reached."])
async def test_where_nothing_can_be_fetched_it_starts_on_the_small_guide(
    tmp_path: Path, trouble: str
) -> None:
    guide = tmp_path / "pocket.gguf"
    host = first(replace(NOTHING_HERE, builtin=guide, lacks_network=True), trouble)
    async with host.run_test(size=(80, 24)) as pilot:
        if trouble:
            # Somebody has asked for a download: they choose what comes of it.
            await until(pilot, lambda: "Start on the small guide" in seen(pilot))
            assert not host.results
        else:
            await until(pilot, lambda: bool(host.results))
            assert host.results == [Builtin(guide, "There is no way to other machines.")]


async def test_what_is_here_is_offered_before_the_small_guide(tmp_path: Path) -> None:
    here = local(SIZES[0], tmp_path / "mine.gguf")
    offers = (*SIZES, here)
    found = replace(NOTHING_HERE, offers=offers, builtin=tmp_path / "g", lacks_network=True)
    host = first(found)
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Use a file that is here" in seen(pilot))
        assert not host.results and "no way to other machines" in seen(pilot)
        await pilot.press("up", "up", "enter")
        await until(pilot, lambda: "there is no network" in seen(pilot))
        assert not host.results
        await pilot.press("down", "down", "enter")
        await until(pilot, lambda: "Use a file that is here" in seen(pilot))
        await until(pilot, lambda: "mine" in seen(pilot))
        await pilot.press("enter")
    assert host.results == [UseFile(tmp_path / "mine.gguf")]


async def test_offline_it_says_how_a_model_comes_here() -> None:
    host = first(replace(NOTHING_HERE, is_offline=True))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "No network" in seen(pilot))
        assert "HF_HUB_OFFLINE" in seen(pilot)
        assert "`" not in seen(pilot)
        assert "models export" in seen(pilot) and "models import" in seen(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: "would have to be fetched" in seen(pilot))
        assert not host.results


async def test_a_hub_that_could_not_be_reached_is_told() -> None:
    host = first(NOTHING_HERE, trouble="The hub could not be reached.")
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "The hub could not be reached." in seen(pilot))
        assert "models import" in seen(pilot)
        # It may be there again.
        await pilot.press("enter")
    assert host.results == [Fetch("E4B")]


@pytest.mark.parametrize("suited", [SIZES[4], None])
async def test_a_machine_for_which_all_is_too_large(suited: object) -> None:
    large = sizes(gib=2)
    found = replace(
        NOTHING_HERE,
        offers=tuple(large),
        suited=None if suited is None else large[4],
        why="No size fits into the memory that is free now.",
        troubles=("Close [some] programs.",),
    )
    host = first(found)
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "No size fits" in seen(pilot))
        assert "Close [some] programs." in seen(pilot) and "0 of 5 fit" in seen(pilot)
        assert "Suits it best" not in seen(pilot) and "Fetch" not in seen(pilot)
        assert "E2B, which lacks least, needs" in seen(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: "Choose a size" in seen(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: "more than is free" in seen(pilot))
        assert not host.results


async def test_a_small_terminal_can_be_scrolled() -> None:
    host = first(replace(NOTHING_HERE, is_offline=True, troubles=("Make room first.",) * 3))
    async with host.run_test(size=(60, 14)) as pilot:
        await until(pilot, lambda: "A processor" in seen(pilot))
        await pilot.press("pagedown", "pagedown", "pagedown")
        await until(pilot, lambda: "Quit" in seen(pilot))
        await pilot.press("pageup", "pageup", "pageup")
        await until(pilot, lambda: "A processor" in seen(pilot))


async def test_what_nobody_thought_of_leaves_the_guide_and_a_path(home: Path) -> None:
    def look(say: Callable[[str], None]) -> Readiness:
        say("looking at this machine")
        raise RuntimeError("no such [thing]")

    host = Host(FirstStart(look))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "RuntimeError" in seen(pilot))
        shown = seen(pilot)
        assert "looking at this machine" not in shown and "In the way" in shown
        assert "Start on the small guide" in shown and "by its path" in shown
        # There are no sizes to choose among.
        assert "fit" not in shown
        await pilot.press("s")
        assert host.screen is host.screen_stack[1]
        await pilot.press("g")
    assert host.results == [Builtin(pocket_target())]
    assert "RuntimeError: no such [thing]" in folders.log_path().read_text()


def pocket_target() -> Path:
    found = pocket.pair()
    assert found is not None
    return found[0]

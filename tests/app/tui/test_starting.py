"""Downloads and the screen that they begin from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import constants
from textual.screen import Screen
from textual.widgets import Input

from gemma_local.app import fetching as app_fetching
from gemma_local.app import folders, readiness
from gemma_local.app.fetching import Fetching
from gemma_local.app.tui.screens.chat import ChatScreen
from gemma_local.app.tui.screens.download import DownloadScreen
from gemma_local.app.tui.screens.first_start import FirstStart
from gemma_local.app.tui.screens.models import ModelPicker
from gemma_local.app.tui.starting import ALL_THERE_IS
from gemma_local.models import pocket
from tests.app.running import STORY
from tests.app.served import DRAFTER, REPOSITORY, TARGET, Served, served
from tests.app.tui.chatting import Chat, chatting
from tests.app.tui.screens.host import seen
from tests.ggufs import Pair
from tests.hub import Cut, Status, sha256

OTHER = "other-Q4.gguf"


@pytest.fixture
def sizes(story: Pair, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """The person's catalogue has files of a hub of this test for E2B and E4B, which come slowly;
    their models lie in folders of this test."""
    with served(story, home, monkeypatch) as hub:
        hub.hub.commit(REPOSITORY, {OTHER: hub.target + b"more"})
        hub.hub.pace = 0.05
        monkeypatch.setattr(app_fetching, "own_store", lambda: hub.store)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(hub.store.cache.folder))
        # Whoever has a proxy may have a network; the hub is reached without it.
        monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
        own = folders.catalog_path()
        own.parent.mkdir(parents=True)
        own.write_text("\n".join([size("E2B", TARGET, hub), size("E4B", OTHER, hub)]))
        # It takes two seconds, and here nothing depends on it.
        monkeypatch.setattr(readiness, "memory_speed", lambda _: None)
        yield hub


def size(label: str, target: str, hub: Served) -> str:
    """A size of the catalogue that stands for a file of the hub, with its drafter."""
    lines = ["[[size]]", f'label = "{label}"']
    content = {TARGET: hub.target, OTHER: hub.target + b"more", DRAFTER: hub.drafter}
    for kind, file in (("target", target), ("drafter", DRAFTER)):
        lines += [
            f"[[size.{kind}]]",
            f'repository = "{REPOSITORY}"',
            f'file = "{file}"',
            f"bytes = {len(content[file])}",
            f'sha256 = "{sha256(content[file])}"',
            'quantisation = "Q4_0"',
            'format = "Q4_0"',
            "is_qat = true",
        ]
    return "\n".join(lines)


async def shown(chat: Chat, kind: type[Screen[Any]], *words: str) -> None:
    """Wait for a screen, and until it says all that."""
    await chat.until(
        lambda: (
            isinstance(chat.app.screen, kind) and all(word in seen(chat.pilot) for word in words)
        )
    )


async def type_in(chat: Chat, text: str) -> None:
    """Write something above the list, and have the first of what is left chosen."""
    chat.app.screen.query_one("#filter", Input).value = text
    await chat.pilot.press("enter")


async def choose(chat: Chat, typed: str) -> None:
    """Have what was typed chosen from the list of models."""
    await shown(chat, ModelPicker, "to fetch")
    await type_in(chat, typed)


async def fetching(chat: Chat) -> Fetching:
    """The download that is shown, once something has come."""
    await shown(chat, DownloadScreen)
    found = chat.screen.starting._fetching
    assert found is not None
    await chat.until(lambda: found.state().done > 0)
    return found


def runs(chat: Chat) -> Path:
    """The file of the model that runs."""
    assert chat.screen.opened is not None
    return Path(chat.screen.opened.ready.target)


async def test_from_the_first_page_to_a_model_that_is_fetched(sizes: Served) -> None:
    guide = pocket.pair()
    assert guide is not None
    async with chatting(None) as chat:
        await shown(chat, FirstStart, "Choose another size")
        await chat.pilot.press("s")
        await choose(chat, "e2b")
        await fetching(chat)
        await chat.pilot.press("escape", "y")
        # Nothing runs, so one has to choose once more.
        await shown(chat, FirstStart, "Choose another size")
        await chat.pilot.press("s")
        await choose(chat, "e2b")
        first = await fetching(chat)
        await chat.pilot.press("p")
        # Also one that is paused is left for what comes along.
        await chat.pilot.press("g")
        await chat.ready()
        assert runs(chat) == guide[0]
        assert chat.screen.starting.note.startswith("paused at")
        await chat.send("/model")
        await choose(chat, "e2b")
        assert await fetching(chat) is first
        await chat.pilot.press("g")
        await shown(chat, ChatScreen)
        await chat.until(lambda: "%" in chat.screen.starting.note)
        sizes.hub.pace = 0.0
        await chat.until(lambda: first.state().stage == "done")
        chat.screen._watch()
        got = first.state().got
        assert got is not None and f"Gemma 4 E2B is here: /model {got.model} runs it" in chat.text
        assert chat.screen.starting.note == ""
        await chat.send(f"/model {got.model}")
        await chat.until(lambda: "from here on" in chat.text)
        await chat.ready()
        assert (await chat.ask("hello")).plain() == STORY.text


async def test_a_hub_that_fails_leads_back_to_the_first_page(sizes: Served, story: Pair) -> None:
    sizes.hub.cdn_trouble.extend([Status(503)] * 20)
    async with chatting(None) as chat:
        await shown(chat, FirstStart, "Choose another size")
        await chat.pilot.press("s")
        await choose(chat, "e2b")
        await shown(chat, DownloadScreen, "could not deliver")
        await chat.pilot.press("escape")
        # It says what there was, and how else a model comes here.
        await shown(chat, FirstStart, "No network", "could not deliver", "Choose another size")
        await chat.pilot.press("f")
        await shown(chat, ModelPicker, "type the path")
        await type_in(chat, str(story.target))
        await chat.ready()
        assert runs(chat) == story.target and ALL_THERE_IS not in chat.text


async def test_another_choice_ends_the_first_and_the_last_one_runs(
    sizes: Served, story: Pair
) -> None:
    async with chatting(story) as chat:
        await chat.ready()
        chat.screen.starting.fetch("e2b")
        first = await fetching(chat)
        await chat.pilot.press("g")
        await shown(chat, ChatScreen)
        await chat.send("/model")
        # What runs is offered as well, though no folder of models has it, and so is the guide.
        await shown(chat, ModelPicker, "in use", story.target.stem[:8], pocket.LABEL)
        await choose(chat, "e4b")
        second = await fetching(chat)
        assert second is not first
        assert (first.state().stage, second.state().stage) == ("stopped", "fetching")
        sizes.hub.pace = 0.0
        await chat.until(lambda: "from here on" in chat.text)
        await chat.ready()
        assert runs(chat).name == OTHER
        await chat.send("/model")
        await shown(chat, ModelPicker, "in use")
        await type_in(chat, str(story.target))
        await chat.until(lambda: runs(chat) == story.target)


async def test_where_nothing_can_be_fetched_the_guide_runs_and_says_why(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(home / "hub"))
    async with chatting(None) as chat:
        await chat.ready()
        why = "Nothing may be fetched, as HF_HUB_OFFLINE says."
        await chat.until(lambda: f"{why} {ALL_THERE_IS}" in chat.text)


async def test_who_chooses_nothing_leaves(sizes: Served) -> None:
    async with chatting(None) as chat:
        await shown(chat, FirstStart)
        await chat.pilot.press("q")
        await chat.until(lambda: chat.app._exit)
        assert not sizes.hub.requests


async def test_a_download_that_fails_before_ones_eyes_is_left_by_escape(
    story: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(story, tmp_path, monkeypatch) as hub:
        hub.hub.cdn_trouble.extend([Cut(600_000)] + [Status(503)] * 8)
        async with chatting(story) as chat:
            await chat.ready()
            starting = chat.screen.starting
            starting._fetching = fetching = hub.fetching()
            starting.show_download()
            await chat.until(lambda: isinstance(chat.app.screen, DownloadScreen))
            await chat.until(lambda: fetching.state().stage == "failed")
            # Which looks from time to time, seen or not.
            chat.screen._watch()
            await chat.pilot.press("escape")
            await chat.until(lambda: isinstance(chat.app.screen, ChatScreen))
            assert starting.note == ""
            assert "the download stopped" not in chat.text


async def test_a_download_in_the_background_says_why_it_stopped(
    story: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(story, tmp_path, monkeypatch) as hub:
        hub.hub.pace = 0.02
        async with chatting(story) as chat:
            await chat.ready()
            starting = chat.screen.starting
            starting._fetching = fetching = hub.fetching()
            starting.show_download()
            await chat.until(lambda: fetching.state().done > 0)
            await chat.pilot.press("g")
            await chat.until(lambda: isinstance(chat.app.screen, ChatScreen))
            assert starting.note
            hub.hub.cdn_trouble.extend([Status(404)] * 20)
            fetching.pause()
            fetching.start()
            await chat.until(lambda: fetching.state().stage == "failed")
            chat.screen._watch()
            assert "the download stopped" in chat.text and starting.note == ""

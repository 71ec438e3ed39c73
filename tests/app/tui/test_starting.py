"""Downloads and the screen that they begin from."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemma_local.app.tui.screens.chat import ChatScreen
from gemma_local.app.tui.screens.download import DownloadScreen
from tests.app.served import served
from tests.app.tui.chatting import chatting
from tests.ggufs import Pair
from tests.hub import Cut, Status


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

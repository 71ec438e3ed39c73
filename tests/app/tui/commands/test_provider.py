from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from textual.app import App
from textual.command import CommandList, CommandPalette, Provider
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input

from gemma_local.app.tui.commands.command import Invocation
from gemma_local.app.tui.commands.provider import PALETTE_CSS, CommandProvider, relevance
from gemma_local.app.tui.commands.registry import COMMANDS
from gemma_local.models.errors import GemmaLocalError
from tests.waiting import PATIENCE


class Target(Screen[None]):
    """Keeps what it was told; it has no room for /compact."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []

    def begin_command(self, text: str) -> None:
        self.told.append(text)

    def order(self, invocation: Invocation) -> None:
        if invocation.command.name == "compact":
            raise GemmaLocalError("there is nothing to compact [yet]; write something first")
        self.told.append(invocation.command.usage)


class Host(App[None]):
    CSS = PALETTE_CSS
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {CommandProvider}

    def get_default_screen(self) -> Target:
        return Target()

    @property
    def target(self) -> Target:
        screen = self.screen_stack[0]
        assert isinstance(screen, Target)
        return screen


def offered(app: Host) -> list[str]:
    options = app.screen.query_one(CommandList)
    return [str(options.get_option_at_index(i).prompt) for i in range(options.option_count)]


async def search(app: Host, pilot: Any, words: str) -> list[str]:
    app.action_command_palette()
    await pilot.pause()
    app.screen.query_one(Input).value = words
    end = time.monotonic() + PATIENCE
    while not offered(app):
        assert time.monotonic() < end
        await asyncio.sleep(0.02)
    await app.workers.wait_for_complete()
    await pilot.pause()
    return offered(app)


async def test_it_offers_every_command_and_nothing_else() -> None:
    app = Host()
    async with app.run_test(size=(100, 100)) as pilot:
        shown = await search(app, pilot, "")
        assert len(shown) == len(COMMANDS)
        for command, prompt in zip(COMMANDS, shown, strict=True):
            assert command.usage in prompt and command.summary in prompt


async def test_a_command_is_found_by_its_keywords_and_carried_out() -> None:
    app = Host()
    async with app.run_test(size=(100, 40)) as pilot:
        shown = await search(app, pilot, "performance")
        assert "/stats" in shown[0]
        await pilot.press("down", "enter")
        await pilot.pause()
        assert not isinstance(app.screen, CommandPalette)
        assert app.target.told == ["/stats"]


async def test_the_name_comes_before_what_only_mentions_it() -> None:
    app = Host()
    async with app.run_test(size=(100, 40)) as pilot:
        assert "/think" in (await search(app, pilot, "/think"))[0]


@pytest.mark.parametrize(
    ("query", "found", "marked"),
    [
        ("stat", "/stats", ["stat"]),
        ("memory", "/stats", ["memory"]),
        # Another name and a keyword are shown for it.
        ("sessions", "/resume [SESSION]  sessions", ["sessions"]),
        ("per s", "/stats  tokens per second", ["per s"]),
        # Letters in their order.
        ("sts", "/stats", ["s", "t", "s"]),
    ],
)
async def test_what_was_found_is_marked(query: str, found: str, marked: list[str]) -> None:
    app = Host()
    async with app.run_test(size=(100, 40)) as pilot:
        await search(app, pilot, query)
        options = app.screen.query_one(CommandList).options
        (prompt,) = (o.prompt for o in options if str(o.prompt).startswith(f"{found} "))
        assert isinstance(prompt, Content)
        spans = [span for span in prompt.spans if "$accent" in str(span.style)]
        assert [prompt.plain[span.start : span.end] for span in spans] == marked


async def test_a_command_that_needs_more_is_begun() -> None:
    app = Host()
    async with app.run_test(size=(100, 40)) as pilot:
        await search(app, pilot, "title")
        await pilot.press("down", "enter")
        await pilot.pause()
        assert app.target.told == ["/title "]


async def test_what_goes_wrong_is_said() -> None:
    app = Host()
    async with app.run_test(size=(100, 40)) as pilot:
        await search(app, pilot, "compact")
        await pilot.press("down", "enter")
        await pilot.pause()
        (notice,) = app._notifications
        assert notice.message == "there is nothing to compact [yet]; write something first"
        assert notice.markup is False


async def test_over_another_screen_there_is_nothing_to_order() -> None:
    app = Host()
    async with app.run_test(size=(100, 40)) as pilot:
        app.push_screen(Screen[None]())
        await pilot.pause()
        assert len(await search(app, pilot, "stats")) == 1
        assert "/stats" not in offered(app)[0]


def test_the_name_counts_most_then_other_names_keywords_and_words() -> None:
    by_name = {command.name: command for command in COMMANDS}
    queries = ["think", "thi", "reasoning", "model"]
    scores = [relevance(by_name["think"], query) for query in queries]
    assert scores == sorted(scores, reverse=True) and scores[0] == 1.0
    assert relevance(by_name["clear"], "new") > relevance(by_name["clear"], "reset")
    assert relevance(by_name["clear"], "ear") == 0.0

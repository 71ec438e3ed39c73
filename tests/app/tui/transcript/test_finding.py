"""Finding words in what was said."""

from __future__ import annotations

import pytest
from textual.app import ComposeResult
from textual.widgets import Input, Static

from gemma_local.app.tui.transcript.answer_item import AnswerItem
from gemma_local.app.tui.transcript.find_bar import FindBar
from gemma_local.app.tui.transcript.finder import Found
from gemma_local.app.tui.transcript.item import Item
from gemma_local.app.tui.transcript.person_item import PersonItem
from gemma_local.models.message import Message
from tests.app.tui.transcript.host import Host, painted


def talk() -> list[Item]:
    items: list[Item] = [PersonItem(f"message {n} " + "word " * 40) for n in range(60)]
    items[10] = PersonItem("a Needle, and another NEEDLE")
    items[30] = AnswerItem.of(Message("assistant", "plain", thought="a nëedle in a thought"))
    items[50] = PersonItem("\n".join(["haystack"] * 50 + ["the needle"]))
    return items


def painted_in(app: Host, style: str) -> list[str]:
    """The pieces of text that are painted as what was found, or as the place that is shown."""
    ground = getattr(app.look.palette, style).bgcolor
    return [
        segment.text
        for y in range(app.transcript.size.height)
        for segment in app.transcript.render_line(y)
        if segment.style is not None and segment.style.bgcolor == ground
    ]


async def test_places_are_gone_through_and_each_comes_into_view() -> None:
    app = Host(talk())
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = app.transcript
        transcript.scroll_to(y=0, animate=False)
        await pilot.pause()
        assert transcript.find("needle") == Found(4, 1)
        await pilot.pause()
        assert painted_in(app, "found_here") == ["Needle"]
        assert painted_in(app, "found") == ["NEEDLE"]
        assert transcript.find_next() == Found(4, 2)
        await pilot.pause()
        assert painted_in(app, "found_here") == ["NEEDLE"]
        assert transcript.find_next() == Found(4, 3)
        await pilot.pause()
        assert painted_in(app, "found_here") == ["nëedle"]
        assert transcript.find_next() == Found(4, 4)
        await pilot.pause()
        assert painted_in(app, "found_here") == ["needle"]
        assert transcript.find_next() == Found(4, 1)
        assert transcript.find_previous() == Found(4, 4)


async def test_it_begins_at_the_view_and_not_at_the_beginning_of_everything() -> None:
    app = Host(talk())
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = app.transcript
        transcript.scroll_to(y=transcript._layout.top(20), animate=False)
        await pilot.pause()
        assert transcript.find("needle") == Found(4, 3)


async def test_what_is_not_there_moves_nothing() -> None:
    app = Host(talk())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        before = painted(app)
        assert app.transcript.find("nowhere") == Found(0, 0)
        assert app.transcript.find_next() == Found(0, 0)
        assert app.transcript.find_previous() == Found(0, 0)
        assert painted(app) == before


@pytest.mark.parametrize("query", ["bold word", "BOLD WORD that", "with code"])
async def test_markup_and_breaks_are_no_obstacle(query: str) -> None:
    text = "some text " * 6 + "a **bold** word\nthat goes on with `code`"
    app = Host([AnswerItem.of(Message("assistant", text))])
    async with app.run_test(size=(40, 24)) as pilot:
        assert app.transcript.find(query) == Found(1, 1)
        await pilot.pause()
        here = "".join(painted_in(app, "found_here"))
        assert here.lower().replace(" ", "") == query.lower().replace(" ", "")


async def test_what_is_said_meanwhile_is_found_too() -> None:
    app = Host([PersonItem("needle one")])
    async with app.run_test(size=(80, 24)) as pilot:
        assert app.transcript.find("needle") == Found(1, 1)
        app.transcript.add(PersonItem("needle two"))
        assert app.transcript.find_next() == Found(2, 2)
        await pilot.pause()
        app.transcript.end_find()
        await pilot.pause()
        assert painted_in(app, "found") == painted_in(app, "found_here") == []


async def test_thousands_of_messages() -> None:
    app = Host([PersonItem(f"message number {n}") for n in range(3_000)])
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert app.transcript.find("number 2845") == Found(1, 1)
        await pilot.pause()
        assert painted_in(app, "found_here") == ["number 2845"]
        # What is painted ahead meanwhile is around the view.
        assert sum(bool(item.painted) for item in app.transcript.items[:400]) == 0


class HostWithBar(Host):
    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield Static()

    def on_mount(self) -> None:
        self.mount(FindBar(self.transcript), after=self.query_one(Static))

    def on_find_bar_closed(self, message: FindBar.Closed) -> None:
        self.heard.append(message)


def says(app: Host) -> str:
    return str(app.query_one("#found", Static).content)


async def test_the_bar_says_how_often_and_goes_on_with_enter() -> None:
    app = HostWithBar(talk())
    async with app.run_test(size=(80, 24)) as pilot:
        app.transcript.scroll_to(y=0, animate=False)
        await pilot.press(*"needle")
        assert says(app) == "1 of 4"
        await pilot.press("enter")
        assert says(app) == "2 of 4"
        await pilot.press("down")
        assert says(app) == "3 of 4"
        await pilot.press("up", "shift+enter")
        assert says(app) == "1 of 4"
        await pilot.press("x")
        assert says(app) == "not found"
        await pilot.press(*["backspace"] * 7)
        assert says(app) == ""
        assert app.query_one(FindBar).size.height == 1
        await pilot.press(*"needle", "escape")
        assert len(app.of(FindBar.Closed)) == 1
        assert painted_in(app, "found_here") == []


async def test_the_bar_shows_any_text_as_it_is() -> None:
    app = HostWithBar([PersonItem("[/] and [bold]")])
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("[", "/", "]")
        assert app.query_one(Input).value == "[/]"
        assert says(app) == "1 of 1"

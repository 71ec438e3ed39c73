"""What keys do on the chat screen, and how they are named."""

from __future__ import annotations

import re

import pytest
from textual.binding import Binding
from textual.widgets import Footer, Static

from gemma_local.app.settings import Settings
from tests.app.tui.chatting import Chat, chatting
from tests.ggufs import Pair

pytestmark = pytest.mark.usefixtures("home")


def hint(chat: Chat) -> str:
    """The line above the composer, "" if there is none."""
    line = chat.screen.query_one("#hint", Static)
    return str(line.content) if line.display else ""


async def test_another_key_in_between_and_ctrl_c_does_not_leave(story: Pair) -> None:
    async with chatting(story) as chat:
        await chat.ready()
        await chat.pilot.press("ctrl+c")
        assert hint(chat) == "Ctrl-C again leaves"
        await chat.pilot.press("left")
        assert hint(chat) == ""
        await chat.pilot.press("ctrl+c")
        assert hint(chat) == "Ctrl-C again leaves"
        assert not chat.app._exit
        # A letter, which is then cleared.
        await chat.pilot.press("x", "ctrl+c", "ctrl+c")
        assert not chat.app._exit
        await chat.pilot.press("ctrl+c")
        assert chat.app._exit


async def test_all_of_the_hint_while_browsing_is_seen_in_80_columns(story: Pair) -> None:
    async with chatting(story) as chat:
        await chat.ready()
        await chat.ask("hello")
        await chat.pilot.press("f4")
        line = chat.screen.query_one("#hint", Static)
        assert hint(chat).endswith("Esc back")
        assert len(hint(chat)) <= line.content_size.width


async def test_keys_have_one_spelling(story: Pair) -> None:
    settings = Settings.model_validate({"keys": {"to_end": ["f8"], "restart": ["ctrl+x"]}})
    async with chatting(story, settings=settings) as chat:
        await chat.ready()
        assert chat.app.key("to_end") == "F8"
        assert chat.app.get_key_display(Binding("ctrl+o", "", "")) == "Ctrl-O"
        assert chat.app.get_key_display(Binding("p,space", "", "", key_display="p")) == "p"
        assert "Ctrl-X starts it again" in str(chat.screen.query_one("#banner", Static).content)
        await chat.send("/rewind")
        await chat.until(lambda: len(chat.app.screen_stack) == 3)
        await chat.pilot.pause()
        keys = " ".join(str(line.render()) for line in chat.app.screen.query_one(Footer).children)
        assert "Ctrl-O" in keys
        assert not re.search(r"\^|ctrl", keys)


async def test_no_shell_no_suspending(story: Pair) -> None:
    async with chatting(story) as chat:
        await chat.ready()
        await chat.pilot.press("alt+z")
        (toast,) = chat.app._notifications
        assert toast.message == "this terminal has no way to put a program aside"
        # It undoes, where something is written.
        await chat.pilot.press("a", "ctrl+z")
        assert chat.written == ""
        await chat.send("/suspend")
        await chat.pilot.pause()
        assert chat.written == "/suspend"

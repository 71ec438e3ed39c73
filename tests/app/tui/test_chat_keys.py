"""What keys do on the chat screen, and how they are named."""

from __future__ import annotations

import re

import pytest
from textual.binding import Binding
from textual.command import CommandPalette
from textual.widgets import Footer, Input, Static

from gemma_local.app.settings import Settings
from tests.app.running import STORY
from tests.app.tui.chatting import Chat, chatting
from tests.app.tui.transcript.test_selecting import drag
from tests.ggufs import Pair

pytestmark = pytest.mark.usefixtures("home")


def hint(chat: Chat) -> str:
    """The line above the composer, "" if there is none."""
    line = chat.screen.query_one("#hint", Static)
    return str(line.content) if line.display else ""


def at_end(chat: Chat) -> bool:
    """Whether the end of the conversation is in view."""
    return chat.screen.transcript.at_end


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


async def test_the_way_through_a_long_conversation(story: Pair) -> None:
    async with chatting(story, size=(60, 12)) as chat:
        await chat.ready()
        for text in ("first", "second", "third"):
            await chat.ask(text)
        assert at_end(chat) and "first" not in chat.shown
        await chat.pilot.press("pageup")
        assert not at_end(chat) and hint(chat)
        await chat.pilot.press("ctrl+home")
        assert "first" in chat.shown
        top = chat.shown
        await chat.pilot.press("pagedown")
        assert chat.shown != top
        await chat.pilot.press("pageup")
        assert chat.shown == top
        await chat.pilot.press("ctrl+end")
        assert at_end(chat)
        await chat.pilot.press("pageup", "ctrl+l")
        assert not at_end(chat)
        # There is nothing to stop.
        await chat.pilot.press("escape")
        assert at_end(chat) and not hint(chat)


async def test_ctrl_c_copies_what_is_selected(story: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    # No tool of the desktop is asked.
    monkeypatch.setenv("SSH_CONNECTION", "192.0.2.1 50000 192.0.2.2 22")
    monkeypatch.delenv("TMUX", raising=False)
    async with chatting(story) as chat:
        await chat.ready()
        await chat.ask("hello")
        chat.screen.composer.write("half a sentence")
        selected = await drag(chat.pilot, (0, 0), (79, 15))
        assert "hello" in selected and STORY.text in selected
        await chat.pilot.press("ctrl+c")
        await chat.until(lambda: chat.app.clipboard == selected)
        assert not chat.screen.get_selected_text()
        # The next one has something else to do.
        assert chat.written == "half a sentence"
        await chat.pilot.press("ctrl+c")
        assert chat.written == ""


async def test_from_a_message_one_goes_back_or_on_in_a_copy(story: Pair) -> None:
    async with chatting(story) as chat:
        await chat.ready()
        await chat.ask("first")
        await chat.ask("second")
        await chat.pilot.press("f4", "up", "up", "b")
        await chat.until(lambda: "a copy of first" in chat.text)
        await chat.ready()
        assert (chat.said, len(chat.answers), chat.written) == (["first"], 1, "")
        assert chat.screen.composer.has_focus_within
        # Before an answer: what the model said is nothing that the person wrote.
        await chat.pilot.press("f4", "escape")
        await chat.until(lambda: chat.screen.composer.has_focus_within)
        await chat.pilot.press("f4", "up", "r")
        await chat.until(lambda: not chat.answers)
        await chat.ready()
        assert (chat.said, chat.written) == (["first"], "")
        await chat.send("/retry")
        await chat.until(lambda: chat.answers and not chat.answers[-1].is_live)
        await chat.ready()
        await chat.pilot.press("f4", "g", "r")
        await chat.until(lambda: chat.written == "first")
        assert chat.said == []


async def test_the_palette_begins_commands_and_knows_what_has_to_wait(endless: Pair) -> None:
    async with chatting(endless, temperature=1.0) as chat:

        async def pick(words: str) -> None:
            await chat.pilot.press("ctrl+p")
            await chat.until(lambda: isinstance(chat.app.screen, CommandPalette))
            chat.app.screen.query_one(Input).value = words
            await chat.pilot.pause()
            await chat.app.workers.wait_for_complete()
            await chat.pilot.press("enter")
            await chat.until(lambda: chat.app.screen is chat.screen)

        await chat.ready()
        await chat.send("go on for ever")
        await chat.until(lambda: chat.answers)
        await pick("compact")
        waits = "/compact has to wait; Esc stops what is going on"
        await chat.until(lambda: waits in [toast.message for toast in chat.app._notifications])
        await chat.pilot.press("escape")
        await chat.ready()
        await pick("title")
        await chat.until(lambda: chat.written == "/title ")
        await chat.pilot.press(*"rivers", "enter")
        await chat.until(lambda: "now called rivers" in chat.text)

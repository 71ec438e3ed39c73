"""What commands and keys do to a conversation, with the real engine."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input

from gemma_local.app.sessions.store import SessionStore
from gemma_local.app.settings import Settings
from gemma_local.app.tui.screens.context import ContextScreen
from gemma_local.app.tui.screens.first_start import FirstStart
from gemma_local.app.tui.screens.help import HelpScreen
from gemma_local.app.tui.screens.rewind import RewindPicker
from gemma_local.app.tui.screens.sessions import SessionPicker
from gemma_local.app.tui.screens.stats import StatsScreen
from gemma_local.app.tui.transcript.find_bar import FindBar
from tests.app.running import STORY
from tests.app.tui.chatting import chatting
from tests.ggufs import Drafter, Pair, build, script

pytestmark = pytest.mark.usefixtures("home")


async def test_going_back_gives_the_message_back(story: Pair, home: Path) -> None:
    (home / "work" / "a.py").write_text("answer = 42\n")
    async with chatting(story) as chat:
        await chat.ready()
        await chat.ask("first")
        await chat.ask("second, with @a.py")
        await chat.send("/rewind")
        await chat.until(lambda: isinstance(chat.app.screen, RewindPicker))
        await chat.pilot.pause(0.2)
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.said == ["first"])
        # As it was written, without what was read for it.
        await chat.until(lambda: chat.written == "second, with @a.py")
        chat.screen.composer.clear()
        await chat.send("/rewind 1")
        await chat.until(lambda: chat.said == [])
        assert chat.written == "first"
    with SessionStore.open() as store:
        # Nothing is lost: each is a conversation of its own.
        assert sorted(info.messages for info in store.list()) == [2, 4]


async def test_another_conversation_and_back(story: Pair) -> None:
    async with chatting(story) as chat:
        await chat.ready()
        await chat.ask("about rivers")
        await chat.send("/clear")
        await chat.until(lambda: not chat.items)
        await chat.ready()
        await chat.ask("about hills")
        await chat.send("/resume about rivers")
        await chat.until(lambda: chat.said == ["about rivers"])
        await chat.ready()
        await chat.send("/resume")
        await chat.until(lambda: isinstance(chat.app.screen, SessionPicker))
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.app.screen is chat.screen)
        await chat.ask("more about rivers")
        await chat.send("/branch 2")
        await chat.until(lambda: "a copy of" in chat.text)
        await chat.ready()
        assert chat.said == ["about rivers"]
    with SessionStore.open() as store:
        assert len(store.list()) == 3


async def test_the_editor_of_the_settings_is_used(story: Pair) -> None:
    settings = Settings.model_validate({"composer": {"editor": "no-such-editor -w"}})
    async with chatting(story, settings=settings, toasts=True) as chat:
        await chat.ready()
        await chat.send("/edit")
        await chat.until(lambda: chat.app._notifications)
        assert [toast.message for toast in chat.app._notifications] == [
            "there is no no-such-editor, which composer.editor names; set it anew"
        ]


async def test_a_title_is_kept_or_refused(story: Pair) -> None:
    async with chatting(story) as chat:
        await chat.ready()
        # There is nothing yet that has one, and a title that is lost would be worse than none.
        await chat.send("/title rivers")
        await chat.until(lambda: chat.written == "/title rivers")
        assert "now called" not in chat.text
        chat.screen.composer.clear()
        await chat.ask("hello")
        await chat.send("/title rivers")
        await chat.until(lambda: "now called rivers" in chat.text)
    with SessionStore.open() as store:
        assert [info.title for info in store.list()] == ["rivers"]


async def test_another_model_goes_on(story: Pair, ggufs: Path) -> None:
    said = script(["Quite", " another", " model", "."])
    other = build("dense", said, ggufs / "other")
    async with chatting(story) as chat:
        await chat.ready()
        await chat.ask("hello")
        await chat.send(f"/model {other.target}")
        await chat.until(lambda: "from here on" in chat.text)
        await chat.ready()
        assert (await chat.ask("and you?")).plain() == said.text
        assert chat.said == ["hello", "and you?"]
        await chat.send("/model /nowhere/at/all.gguf")
        await chat.until(lambda: "/nowhere/at/all.gguf" in chat.text)
        await chat.ready()
        assert (await chat.ask("still you?")).plain() == said.text


async def test_an_answer_is_tried_again(story: Pair) -> None:
    async with chatting(story) as chat:
        await chat.ready()
        await chat.ask("hello")
        await chat.send("/retry")
        await chat.until(lambda: len(chat.answers) == 2)
        await chat.ready()
        assert (await chat.entry(1)).dropped


async def test_small_tasks_are_no_part_of_the_conversation(story: Pair) -> None:
    async with chatting(story) as chat:
        await chat.ready()
        await chat.ask("hello")
        await chat.send("/summarize a long text that somebody wrote")
        await chat.until(lambda: chat.text.count(STORY.text) == 2)
        await chat.ready()
        await chat.send("/proofread Once word0 wrod1.")
        await chat.until(lambda: "change" in chat.shown)
        await chat.ready()
        assert len(await chat.entries()) == 2


async def test_control_c_copies_clears_stops_and_leaves(endless: Pair) -> None:
    async with chatting(endless, temperature=1.0) as chat:
        await chat.ready()
        await chat.send("go on for ever")
        await chat.until(lambda: chat.answers)
        chat.screen.composer.write("something else")
        await chat.pilot.press("ctrl+c")
        assert (chat.written, chat.screen.is_busy) == ("", True)
        await chat.pilot.press("ctrl+c")
        await chat.ready()
        assert chat.app.is_running
        await chat.pilot.press("ctrl+c")
        assert chat.screen.query_one("#hint").display
        await chat.pilot.press("ctrl+c")
        await chat.until(lambda: chat.app._exit)


async def test_control_d_leaves_only_when_nothing_is_written(story: Pair) -> None:
    async with chatting(story) as chat:
        await chat.ready()
        chat.screen.composer.write("ab")
        await chat.pilot.press("home", "ctrl+d")
        assert chat.written == "b"
        await chat.pilot.press("ctrl+d", "ctrl+d")
        await chat.until(lambda: chat.app._exit)


async def test_settings_that_last_and_those_that_do_not(story: Pair, home: Path) -> None:
    async with chatting(story) as chat:
        await chat.ready()
        await chat.send("/theme gemma-light")
        await chat.until(lambda: chat.app.theme == "gemma-light")
        await chat.pilot.press("ctrl+t")
        assert chat.screen.transcript.look == replace(chat.app.look(), tint=True)
        await chat.pilot.press("shift+tab")
        assert chat.screen.mode == "edits"
        await chat.send("/think 200")
        await chat.until(lambda: chat.app.desk.options.think == 200)
        await chat.send("/draft off")
        await chat.until(lambda: chat.app.desk.options.draft == 0)
        await chat.ready()
        await chat.ask("hello")
        assert chat.screen.speedometer.log.answers[-1].tally.drafted == 0
        await chat.send("/draft 99")
        await chat.until(lambda: chat.written == "/draft 99")
    written = home / "XDG_CONFIG_HOME" / "gemma-local" / "config.toml"
    assert 'theme = "gemma-light"' in written.read_text()


async def test_what_is_set_is_told(story: Pair) -> None:
    async with chatting(story) as chat:
        await chat.ready()
        for name, value in {
            "draft": "3",
            "think": "off",
            "theme": "gemma-dark",
            "mode": "ask",
        }.items():
            await chat.send(f"/{name}")
            await chat.until(lambda said=f"/{name} is {value}": said in chat.text)  # type: ignore[misc]
        await chat.send("/think on")
        await chat.until(lambda: "thinking is on from the next message on" in chat.text)
        await chat.send("/think")
        await chat.until(lambda: "/think is on" in chat.text)
        # What cannot be is not said to be so.
        await chat.send("/draft 16")
        await chat.until(lambda: "this pair was loaded for drafts of at most" in chat.text)
        await chat.send("/draft 2")
        await chat.until(lambda: "drafts 2 tokens from the next message on" in chat.text)
        assert "drafts 16 tokens" not in chat.text
        assert chat.app.desk.options.draft == 2
        await chat.send("/mode auto")
        await chat.until(lambda: chat.screen.mode == "auto")


async def test_looks_are_changed_and_changed_back(story: Pair) -> None:
    async with chatting(story) as chat:
        look = chat.screen.transcript.look
        await chat.send("/tint on")
        assert chat.screen.transcript.look == replace(look, tint=True)
        await chat.send("/tint")
        assert chat.screen.transcript.look == look
        await chat.send("/thoughts")
        assert chat.screen.transcript.look == replace(look, thoughts=True)
        await chat.pilot.press("ctrl+o")
        assert chat.screen.transcript.look == look


async def test_what_only_looks_like_a_command(story: Pair) -> None:
    async with chatting(story) as chat:
        await chat.ready()
        await chat.send("/summarice a text")
        await chat.until(lambda: chat.written == "/summarice a text")
        (toast,) = chat.app._notifications
        assert "/summarize" in toast.message
        chat.screen.composer.clear()
        # Nothing was said that could be gone on with.
        await chat.send("/continue")
        await chat.until(lambda: "there is nothing to go on with" in chat.text)
        await chat.ready()
        await chat.ask("/etc/hosts is a file, is it not?")
        assert chat.said == ["/etc/hosts is a file, is it not?"]


async def test_who_goes_back_nowhere_stays(story: Pair) -> None:
    async with chatting(story) as chat:
        await chat.ready()
        await chat.ask("hello")
        await chat.send("/rewind 2")
        number = "you have said 1 messages; give one of their numbers"
        await chat.until(lambda: number in [toast.message for toast in chat.app._notifications])
        await chat.send("/branch")
        await chat.until(lambda: isinstance(chat.app.screen, RewindPicker))
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.app.screen is chat.screen)
        assert (chat.said, chat.written) == (["hello"], "")


async def test_the_conversation_is_exported(story: Pair, home: Path) -> None:
    async with chatting(story) as chat:
        await chat.ready()
        await chat.ask("about rivers")
        await chat.send("/export talk.json")
        await chat.until(lambda: "written to" in chat.text)
        await chat.send("/export")
        await chat.until(lambda: chat.text.count("written to") == 2)
    work = home / "work"
    said = json.loads((work / "talk.json").read_text())["entries"]
    assert [entry["message"]["text"] for entry in said] == ["about rivers", STORY.text]
    assert STORY.text in (work / "about-rivers.md").read_text()


async def test_keys_open_pages(story: Pair) -> None:
    async with chatting(story) as chat:
        for key, kind in (("f1", HelpScreen), ("f2", StatsScreen)):
            await chat.pilot.press(key)
            await chat.until(lambda kind=kind: isinstance(chat.app.screen, kind))  # type: ignore[misc]
            await chat.pilot.press("escape")
            await chat.until(lambda: chat.app.screen is chat.screen)


async def test_what_fills_the_context_is_counted(story: Pair) -> None:
    async with chatting(story) as chat:
        await chat.ready()
        await chat.ask("hello")
        await chat.send("/context")
        await chat.until(lambda: isinstance(chat.app.screen, ContextScreen))
        page = chat.app.screen
        assert isinstance(page, ContextScreen)
        await chat.until(lambda: page._facts is not None)
        assert page._facts is not None
        assert {sized.who for sized in page._facts.largest} == {"user", "assistant"}
        await chat.pilot.press("m")
        await chat.until(lambda: chat.app.screen is chat.screen)
        await chat.ready()


async def test_the_conversation_is_searched(story: Pair) -> None:
    async with chatting(story) as chat:
        await chat.ready()
        await chat.ask("hello")
        await chat.pilot.press("ctrl+f", *"word17")
        bar = chat.screen.query_one(FindBar)
        await chat.until(lambda: "1 of 1" in str(bar.query_one("#found").render()))
        await chat.pilot.press("escape")
        await chat.until(lambda: not chat.screen.query(FindBar))
        await chat.send("still writing")
        await chat.until(lambda: len(chat.said) == 2)
        await chat.ready()
        # The words may stand behind the command; there is one bar, whichever way it is opened.
        await chat.send("/find word17")
        await chat.until(lambda: chat.screen.query(FindBar))
        bar = chat.screen.query_one(FindBar)
        await chat.until(lambda: " of 2" in str(bar.query_one("#found").render()))
        chat.screen.composer.focus()
        await chat.pilot.press("ctrl+f")
        await chat.until(lambda: bar.has_focus_within)
        assert bar.query_one(Input).value == "word17"
        chat.screen.composer.focus()
        await chat.send("/find still")
        await chat.until(lambda: "1 of 1" in str(bar.query_one("#found").render()))
        assert bar.has_focus_within and len(chat.screen.query(FindBar)) == 1


async def test_without_a_model_the_first_start_shows_the_way(
    story: Pair, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Whoever has a proxy may have a network.
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    async with chatting(None) as chat:
        await chat.until(lambda: isinstance(chat.app.screen, FirstStart))
        chat.screen.starting.use(str(story.target))
        chat.app.pop_screen()
        await chat.ready()
        assert (await chat.ask("hello")).plain() == STORY.text


async def test_a_session_that_is_not_there_ends_it_with_the_reason(story: Pair) -> None:
    async with chatting(story, resume="abcdefgh") as chat:
        await chat.until(lambda: chat.app.failure is not None)
        assert "abcdefgh" in str(chat.app.failure)


async def test_text_that_looks_like_markup_or_commands_of_the_terminal(ggufs: Path) -> None:
    hostile = ["[bold]", "[/", "red]", " \x1b[31m", "[@click=app.exit]", " \u202e", "x", "[link]"]
    pair = build("dense", script(hostile), ggufs / "hostile", drafter=Drafter(wrong_every=2))
    async with chatting(pair) as chat:
        await chat.ready()
        for text in ("[bold]hello[/] \x1b[2J", "/title [red]x", "[/nothing]"):
            await chat.send(text)
            await chat.pilot.pause(0.1)
        await chat.until(lambda: len(chat.answers) == 2)
        await chat.ready()
        assert chat.answers[0].plain() == "".join(hostile)
        shown = "".join(
            segment.text for y in range(24) for segment in chat.screen.transcript.render_line(y)
        )
        assert "\x1b" not in shown
        assert "[bold][/red]" in shown


async def test_wrong_keys_in_the_settings_are_said(story: Pair) -> None:
    settings = Settings.model_validate({"keys": {"nothing": ["ctrl+x"]}})
    async with chatting(story, settings=settings) as chat:
        await chat.ready()
        assert any("nothing" in str(note.message) for note in chat.app._notifications)

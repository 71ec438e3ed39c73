"""The chat screen, from the keys to the real engine and back."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from textual.widgets._toast import Toast

from gemma_local.app.agent.consent import Proposal, Verdict
from gemma_local.app.saved_record import SavedRecord
from gemma_local.app.sessions.store import SessionStore
from gemma_local.app.settings import Settings
from gemma_local.app.tui.approval.card import ApprovalCard
from gemma_local.app.tui.consents import Consents
from gemma_local.engine.client import Engine
from gemma_local.engine.messages import Ready
from tests.app.running import STORY
from tests.app.tui.chatting import Chat, chatting
from tests.app.workspace.test_command import left_over
from tests.ggufs import Pair
from tests.waiting import PATIENCE, nap

pytestmark = pytest.mark.usefixtures("home")


async def test_a_message_is_answered_measured_and_saved(story: Pair) -> None:
    async with chatting(story) as chat:
        await chat.ready()
        answer = await chat.ask("hello")
        assert answer.plain() == STORY.text
        assert chat.said == ["hello"]
        status = chat.screen.speedometer.status(
            chat.app.desk.options, "ask", queued=0, alive=True, note=""
        )
        assert status.tokens_per_second
        assert status.acceptance
        assert status.context_used > 60
        assert "--resume" in chat.app.farewell
    with SessionStore.open() as store:
        (info,) = store.list()
        assert [entry.message.text for entry in store.entries(info.id)] == ["hello", STORY.text]


async def test_nothing_is_said_so_nothing_is_kept(story: Pair) -> None:
    async with chatting(story) as chat:
        await chat.ready()
        assert chat.app.farewell == ""
    with SessionStore.open() as store:
        assert not store.list()


async def test_escape_stops_and_keeps_what_there_is(endless: Pair) -> None:
    async with chatting(endless, temperature=1.0) as chat:
        await chat.ready()
        await chat.send("go on for ever")
        await chat.until(lambda: chat.answers and len(chat.answers[0].plain()) > 20)
        await chat.pilot.press("escape")
        await chat.ready()
        assert not chat.answers[0].is_live
        kept = chat.answers[0].plain()
    with SessionStore.open() as store:
        (info,) = store.list()
        entry = store.entries(info.id)[-1]
        assert (entry.message.text, entry.state) == (kept, "stopped")


async def test_messages_wait_for_their_turn(story: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    start, are_sent = Engine.start, threading.Event()

    def started(engine: Engine, *how: Any) -> Ready:
        are_sent.wait(PATIENCE)
        return start(engine, *how)

    monkeypatch.setattr(Engine, "start", started)
    async with chatting(story) as chat:
        # Also before there is a model.
        await chat.send("first")
        await chat.send("second")
        await chat.send("third")
        assert chat.screen.sending.waiting == 3
        are_sent.set()
        await chat.until(lambda: len(chat.answers) == 3)
        await chat.ready()
        assert chat.said == ["first", "second", "third"]


async def test_commands_wait_as_well(story: Pair) -> None:
    async with chatting(story) as chat:
        await chat.send("first")
        await chat.send("/clear")
        await chat.send("second")
        # What does not concern the model does not wait for it.
        await chat.send("/tint on")
        await chat.until(lambda: chat.screen.transcript.look.tint)
        await chat.until(lambda: chat.said == ["second"] and chat.answers)
        await chat.ready()
    with SessionStore.open() as store:
        assert sorted(info.title for info in store.list()) == ["first", "second"]


async def two_wait(chat: Chat) -> None:
    """While the model answers "first"."""
    await chat.ready()
    await chat.send("first")
    await chat.until(lambda: chat.answers)
    await chat.send("second")
    await chat.send("third")


async def test_what_waits_comes_back_when_everything_is_stopped(endless: Pair) -> None:
    async with chatting(endless, temperature=1.0) as chat:
        await two_wait(chat)
        await chat.pilot.press("escape")
        await chat.ready()
        assert chat.written == "second\n\nthird"
        assert chat.said == ["first"]


async def test_what_waits_comes_back_before_what_is_being_written(endless: Pair) -> None:
    async with chatting(endless, temperature=1.0) as chat:
        await two_wait(chat)
        chat.screen.composer.write("half a sentence")
        await chat.pilot.press("left", "escape")
        await chat.ready()
        assert chat.written == "second\n\nthird\n\nhalf a sentence"
        assert chat.said == ["first"]
        assert chat.screen.sending.waiting == 0
        # One writes on where one was.
        await chat.pilot.press("x")
        assert chat.written.endswith("\n\nhalf a sentencxe")


async def test_a_command_that_fails_at_its_turn_leaves_what_is_being_written(story: Pair) -> None:
    async with chatting(story) as chat:
        await chat.send("first")
        await chat.send("/rewind 7")
        await chat.send("/undo")
        chat.screen.composer.write("half a sentence")
        await chat.until(lambda: chat.answers)
        await chat.ready()
        assert chat.screen.sending.waiting == 0
        assert chat.written == "half a sentence"


async def test_a_lone_exclamation_mark_goes_nowhere(story: Pair) -> None:
    async with chatting(story) as chat:
        await chat.ready()
        for text in ("!", "!  ", "!\n"):
            await chat.send(text)
            await chat.pilot.pause()
            assert chat.written == text
        assert any("! runs a command" in one.message for one in chat.app._notifications)
        assert (chat.said, chat.screen.shell.is_running) == ([], False)
        await chat.send("!echo done")
        await chat.until(lambda: "done" in chat.shown)
        assert not chat.said


async def test_the_last_one_that_waits_is_taken_back_with_up(endless: Pair) -> None:
    async with chatting(endless, temperature=1.0) as chat:
        await chat.ready()
        await chat.send("first")
        await chat.until(lambda: chat.answers)
        await chat.send("second")
        await chat.pilot.press("up")
        await chat.until(lambda: chat.written == "second")
        assert chat.screen.sending.waiting == 0
        chat.app.desk.stop()
        await chat.ready()


async def test_what_a_command_printed_goes_with_the_next_message(story: Pair) -> None:
    async with chatting(story) as chat:
        await chat.ready()
        await chat.send("!echo printed; exit 3")
        await chat.until(lambda: "exit status 3" in chat.shown)
        await chat.ask("what was that?")
        entry = await chat.entry(1)
        assert "I ran `echo printed; exit 3` (exit status 3)" in entry.message.text
        assert entry.message.text.endswith("what was that?")
        assert entry.info["written"] == "what was that?"
        # Once is enough.
        await chat.ask("and now?")
        assert (await chat.entry(3)).message.text == "and now?"


async def test_what_a_command_printed_waits_for_a_message_that_is_sent(
    story: Pair, home: Path
) -> None:
    (home / "work" / "data.bin").write_bytes(b"\x00\x01" * 50)
    async with chatting(story) as chat:
        await chat.ready()
        await chat.send("!echo printed")
        await chat.until(lambda: not chat.screen.shell.is_running)
        # What cannot be read is not sent.
        await chat.send("what is @data.bin")
        await chat.until(lambda: chat.written == "what is @data.bin")
        chat.screen.composer.write("")
        await chat.ask("what was that?")
        assert "I ran `echo printed`" in (await chat.entry(1)).message.text


async def test_a_message_that_waits_for_consent_comes_back_when_nobody_asks_any_more(
    story: Pair, home: Path
) -> None:
    (home / "work" / ".env").write_text("KEY=hidden\n")
    async with chatting(story) as chat:
        await chat.ready()
        await chat.ask("hello")
        await chat.send("look at @.env")
        await chat.until(lambda: chat.screen.query(ApprovalCard))
        chat.screen.retry()
        await chat.until(lambda: not chat.screen.query(ApprovalCard))
        await chat.ready()
        assert chat.written == "look at @.env"
        chat.screen.composer.write("")
        await chat.ask("and now?")
        assert chat.said[-1] == "and now?"


async def test_an_answer_that_comes_too_late_answers_nothing_else(story: Pair) -> None:
    heard: list[tuple[str, str]] = []

    def ask(consents: Consents, name: str) -> None:
        consents.ask(
            Proposal(name, "run", name), lambda verdict: heard.append((name, verdict.scope))
        )

    async with chatting(story) as chat:
        await chat.ready()
        consents = chat.screen.consents
        ask(consents, "first")
        ask(consents, "second")
        await chat.until(lambda: chat.screen.query(ApprovalCard))
        card = chat.screen.query_one(ApprovalCard)
        yes = ApprovalCard.Given("first", Verdict("once"))
        card.post_message(yes)
        consents.withdraw()
        await chat.until(lambda: not chat.screen.query(ApprovalCard))
        assert heard == [("first", "no"), ("second", "no")]
        ask(consents, "third")
        chat.screen.post_message(yes)
        await chat.until(lambda: chat.screen.query(ApprovalCard))
        await chat.pilot.pause()
        assert len(heard) == 2


async def test_a_folder_that_is_gone_ends_nothing(
    story: Pair, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = home / "work" / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    async with chatting(story) as chat:
        await chat.ready()
        folder.rmdir()
        # Its name is shown as long as nothing was said.
        await chat.pilot.resize_terminal(100, 30)
        await chat.pilot.pause()
        assert chat.app.folder == folder
        await chat.send("!pwd")
        await chat.until(lambda: "cannot be started" in chat.shown)


async def test_a_command_is_stopped(story: Pair) -> None:
    async with chatting(story) as chat:
        await chat.ready()
        await chat.send(f"!{nap(7006)}")
        await chat.until(lambda: chat.screen.shell.is_running)
        await chat.pilot.press("escape")
        await chat.until(lambda: "stopped" in chat.shown)


async def test_no_command_outlives_the_screens(story: Pair) -> None:
    mark = nap(7007)
    async with chatting(story) as chat:
        await chat.ready()
        await chat.send(f"!{mark}")
        await chat.until(lambda: left_over(mark))
    assert left_over(mark) == []


async def test_files_are_read_and_secrets_asked_for(story: Pair, home: Path) -> None:
    (home / "work" / "a.py").write_text("answer = 42\n")
    (home / "work" / ".env").write_text("KEY=hidden\n")
    async with chatting(story) as chat:
        await chat.ready()
        await chat.ask("explain @a.py")
        entry = await chat.entry(1)
        ((start, end),) = entry.info["files"]
        assert "answer = 42" in entry.message.text[start:end]
        await chat.send("and @.env")
        await chat.until(lambda: chat.screen.query(ApprovalCard))
        await chat.pilot.pause(0.6)
        await chat.pilot.press("n", "enter")
        await chat.until(lambda: not chat.screen.query(ApprovalCard))
        # Refused: the message is not lost.
        await chat.until(lambda: chat.written == "and @.env")
        assert len(chat.said) == 1
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.screen.query(ApprovalCard))
        await chat.pilot.pause(0.6)
        await chat.pilot.press("y")
        await chat.until(lambda: len(chat.answers) == 2)
        await chat.ready()
        assert "KEY=hidden" in (await chat.entry(3)).message.text


async def test_an_engine_that_dies_while_it_answers_goes_on(endless: Pair) -> None:
    async with chatting(endless, temperature=1.0, ctx=8192) as chat:
        await chat.ready()
        await chat.send("go")
        await chat.until(lambda: chat.answers and len(chat.answers[0].plain()) > 20)
        chat.kill_engine()
        before = chat.answers[0].plain()
        await chat.until(lambda: "started again" in chat.text)
        await chat.until(lambda: len(chat.answers[0].plain()) > len(before) + 500)
        await chat.pilot.press("escape")
        await chat.ready()
        assert chat.answers[0].plain().startswith(before)


async def test_an_engine_that_died_in_between_is_started_with_a_key(story: Pair) -> None:
    async with chatting(story) as chat:
        await chat.ready()
        await chat.ask("hello")
        chat.kill_engine()
        banner = chat.screen.query_one("#banner")
        await chat.until(lambda: banner.display)
        await chat.pilot.press("f5")
        await chat.until(lambda: "the engine runs again" in chat.text)
        await chat.until(lambda: not banner.display)
        await chat.ask("still there?")
        assert chat.said == ["hello", "still there?"]


async def test_what_nobody_thought_of_ends_the_answer(
    story: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("nobody thought of it")

    async with chatting(story) as chat:
        await chat.ready()
        with monkeypatch.context() as patch:
            patch.setattr(SavedRecord, "add_answer", fail)
            await chat.send("hello")
            await chat.until(lambda: "nobody thought of it" in chat.text)
            await chat.ready()
        assert not chat.answers[-1].is_live
        await chat.ask("and now?")


async def test_a_new_conversation_starts_an_engine_that_died(story: Pair, home: Path) -> None:
    # Instructions are counted when a conversation begins.
    (home / "work" / "AGENTS.md").write_text("Be kind.\n")
    settings = Settings.model_validate({"screen": {"animation": "none"}, "agent": {"tools": "on"}})
    async with chatting(story, settings=settings, ctx=8192) as chat:
        await chat.ready()
        await chat.ask("hello")
        chat.kill_engine()
        banner = chat.screen.query_one("#banner")
        await chat.until(lambda: banner.display)
        await chat.send("/clear")
        await chat.until(lambda: not chat.said)
        await chat.ready()
        assert not banner.display
        agents: list[object] = []
        chat.app.desk.look(lambda dialogue: agents.append(dialogue.agent))
        await chat.ask("hello again")
        assert agents != [None] and chat.said == ["hello again"]


async def test_what_goes_by_itself_covers_nothing_that_is_typed(story: Pair) -> None:
    async with chatting(story, toasts=True) as chat:
        await chat.ready()
        chat.screen.composer.write("a long line " * 40)
        for number in range(3):
            chat.screen.toast(f"{number}: a sentence that is long enough to take two lines of it")
        await chat.until(lambda: len(chat.screen.query(Toast)) == 3)
        await chat.pilot.pause()
        composer = chat.screen.composer.region
        for toast in chat.screen.query(Toast):
            assert toast.region.height == 2
            assert not toast.region.overlaps(composer)


async def test_after_a_file_that_is_no_model_there_is_none(home: Path) -> None:
    bad = home / "work" / "bad.gguf"
    bad.write_bytes(b"GGUF" + bytes(60))
    async with chatting(None, model=str(bad)) as chat:
        await chat.until(lambda: "/model chooses another model" in chat.text)
        status = chat.screen.speedometer.status(
            chat.app.desk.options, "ask", queued=0, alive=True, note=""
        )
        assert (status.pair, status.model) == ("none", "")

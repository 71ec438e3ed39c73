"""Copying, exporting and small tasks: what the person gets, and why it cannot be."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gemma_local.app.tui import outgoing
from gemma_local.app.tui.transcript.task_item import TaskItem
from tests.app.running import STORY
from tests.app.test_clipboard import Desktop
from tests.app.tui.chatting import Chat, chatting
from tests.ggufs import Pair, Steps, build, script

pytestmark = pytest.mark.usefixtures("home")

CODE = ["Two", " ways:\n\n```python\n", "print(1)", "\n```\n\n```sh\n", "ls", "\n```"]
CHOICES = ["1. ", "Gladly.", "\n2. ", "Not today.", "\n3. ", "When?"]


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """No tool reaches the clipboard: it is at the other end of a connection."""
    monkeypatch.setenv("SSH_CONNECTION", "192.0.2.1 50000 192.0.2.2 22")
    monkeypatch.delenv("TMUX", raising=False)


def toasts(chat: Chat) -> list[str]:
    """What went by itself."""
    return [toast.message for toast in chat.app._notifications]


async def refused(chat: Chat, line: str, why: str) -> None:
    """Send a command that cannot be carried out: the reason is said, and it is given back."""
    chat.screen.composer.clear()
    await chat.send(line)
    await chat.until(lambda: chat.written == line)
    assert toasts(chat)[-1] == why
    chat.screen.composer.clear()


def tasks(chat: Chat) -> list[TaskItem]:
    return [item for item in chat.items if isinstance(item, TaskItem)]


@pytest.mark.usefixtures("elsewhere")
async def test_answers_their_code_and_everything_are_copied(ggufs: Path) -> None:
    coder = build("dense", Steps.of(CODE, ["That", " is", " all."]), ggufs / "coder")
    async with chatting(coder) as chat:

        async def copied(line: str, what: str, text: str) -> None:
            await chat.send(line)
            await chat.until(lambda: chat.app.clipboard == text)
            sent = f"{what}: sent {len(text)} characters to the terminal (OSC 52)"
            await chat.until(lambda: any(toast.startswith(sent) for toast in toasts(chat)))

        await chat.ready()
        await refused(chat, "/copy", "there is no answer yet that could be copied")
        first = (await chat.ask("how?")).plain()
        assert first == "".join(CODE)
        await copied("/copy", "the last answer", first)
        await copied("/copy code 1", "the code", "print(1)")
        await copied("/copy code", "the code", "ls")
        await refused(chat, "/copy code 3", "the last answer has 2 blocks of code")
        await chat.ask("is that all?")
        # Where the last answer has none, the code of earlier ones is meant.
        await copied("/copy code 1", "the code", "print(1)")
        await copied("/copy code", "the code", "ls")
        await refused(chat, "/copy code 3", "the answers have 2 blocks of code")
        everything = ("how?", first, "is that all?", "That is all.")
        await copied("/copy all", "the conversation", "\n\n".join(everything))
        # While one goes through the messages: the code of the one before the last.
        await chat.pilot.press("f4", "up", "up", "1")
        await chat.until(lambda: chat.app.clipboard == "print(1)")
        await chat.pilot.press("down", "c")
        await chat.until(lambda: chat.app.clipboard == "is that all?")


async def test_what_is_not_saved_is_exported_and_nothing_is_replaced(
    story: Pair, home: Path
) -> None:
    work = home / "work"
    async with chatting(story, size=(80, 12), save=False) as chat:
        await chat.ready()
        unsaved = "nothing is saved here, so there is no other conversation"
        await refused(chat, "/resume", unsaved)
        no_title = "this conversation is not saved, so it has no title"
        await refused(chat, "/title rivers", no_title)
        await chat.send("/export")
        await chat.until(lambda: toasts(chat)[-1] == "nothing was said yet")
        await chat.ask("about rivers")
        await refused(chat, "/copy code", "there is no code yet that could be copied")
        await chat.ask("about hills")
        await chat.send("/export")
        await chat.until(lambda: "written to" in chat.text)
        written = (work / "conversation.md").read_text()
        assert "about rivers" in written and STORY.text in written
        await chat.send("/export conversation.md")
        await chat.until(lambda: toasts(chat)[-1] == "conversation.md exists; give another name")
        await chat.send("/export nowhere/talk.md")
        await chat.until(lambda: "cannot be written" in toasts(chat)[-1])
        assert chat.text.count("written to") == 1
        assert (work / "conversation.md").read_text() == written
        # Whoever reads further up is told there.
        await chat.pilot.press("ctrl+home")
        await chat.send("/export talk.md")
        await chat.until(lambda: toasts(chat)[-1] == "written to talk.md")
        assert not chat.screen.transcript.at_end


async def test_without_a_model_commands_say_so(home: Path) -> None:
    bad = home / "work" / "bad.gguf"
    bad.write_bytes(b"GGUF" + bytes(60))
    async with chatting(None, model=str(bad)) as chat:
        await chat.until(lambda: "/model chooses another model" in chat.text)
        await chat.until(lambda: not chat.screen.is_busy)
        missing = "no model is loaded yet; /model chooses one"
        for line in ("/clear", "/compact", "/proofread a text", "/think on"):
            await refused(chat, line, missing)
        await refused(chat, "/export talk.md", "there is no conversation yet")
        await chat.send("/exit")
        await chat.until(lambda: chat.app._exit)


async def test_replies_are_offered_one_by_one(ggufs: Path, home: Path, elsewhere: None) -> None:
    (home / "work" / "mail.txt").write_text("Are you coming?\n")
    replier = build("dense", script(CHOICES), ggufs / "replier")
    async with chatting(replier) as chat:
        await chat.ready()
        for line, why in (
            ("/reply @gone.txt", "there is no file gone.txt; give one of this folder behind the @"),
            ("/reply", "the clipboard cannot be read from here"),
        ):
            await chat.send(line)
            await chat.until(lambda why=why: any(why in toast for toast in toasts(chat)))  # type: ignore[misc]
        assert not tasks(chat)
        await chat.send("/reply @mail.txt")
        await chat.until(lambda: len(tasks(chat)) == 1 and tasks(chat)[0].choices)
        await chat.ready()
        (task,) = tasks(chat)
        assert task.choices == ["Gladly.", "Not today.", "When?"]
        assert "/reply mail.txt" in chat.shown and "2 Not today." in chat.shown
        # Each is at hand under its number.
        await chat.pilot.press("f4", "2")
        await chat.until(lambda: chat.app.clipboard == "Not today.")
        assert await chat.entries() == []


@pytest.mark.skipif(sys.platform == "win32", reason="the programs are shell scripts")
async def test_a_task_takes_its_text_from_the_clipboard(
    story: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desktop = Desktop(tmp_path)
    desktop.wayland()
    desktop.board.write_text("a long text that somebody wrote\n")
    for name, value in desktop.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", "linux")
    async with chatting(story) as chat:
        await chat.ready()
        await chat.send("/summarise")
        await chat.until(lambda: STORY.text in chat.text)
        await chat.ready()
        assert "/summarize the clipboard" in chat.shown
        desktop.board.write_text(" \n")
        await chat.send("/summarise clipboard")
        await chat.until(lambda: "the clipboard holds no text; copy some first" in toasts(chat))


async def test_a_task_that_is_stopped_says_so(endless: Pair) -> None:
    # A long text, so that its correction does not end by itself before it is stopped.
    async with chatting(endless, ctx=8192, temperature=1.0) as chat:
        await chat.ready()
        await chat.send("/proofread " + "a long text that somebody wrote. " * 60)
        await chat.until(lambda: tasks(chat) and "red" in tasks(chat)[0].plain())
        await chat.pilot.press("escape")
        await chat.ready()
        assert "stopped" in chat.shown
        # It was none of the conversation's.
        assert await chat.entries() == []


async def test_what_nobody_thought_of_loses_no_message(
    story: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("nobody thought of it")

    async with chatting(story) as chat:
        await chat.ready()
        with monkeypatch.context() as patch:
            patch.setattr(outgoing, "prepared", fail)
            await chat.send("hello")
            await chat.until(lambda: any("nobody thought of it" in toast for toast in toasts(chat)))
        assert (chat.written, chat.said) == ("hello", [])
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.said == ["hello"])

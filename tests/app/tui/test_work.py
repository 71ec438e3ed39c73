"""Work with tools in the app: cards, consent, going back."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemma_local.app.settings import Settings
from gemma_local.app.tui.approval.card import ApprovalCard
from gemma_local.app.tui.transcript.tool_item import ToolItem
from tests.app.tui.chatting import STILL, Chat, chatting
from tests.ggufs import Pair, build
from tests.ggufs.steps import Steps, call

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.timeout(240)]

OLD = "def add(a, b):\n    return a - b\n"
NEW = "def add(a, b):\n    return a + b\n"


@pytest.fixture(scope="session")
def fixer(ggufs: Path) -> Pair:
    """Reads a file, mends it, runs something, and says so; then it reads another."""
    steps = Steps.of(
        [call("read", path="add.py")],
        ["It", " subtracts.", call("edit", path="add.py", old="a - b", new="a + b")],
        [call("run", command="python -c 'import add; print(add.add(2, 3))'")],
        ["It", " adds", " now."],
        [call("read", path="pyproject.toml")],
        ["Once", " more."],
    )
    return build("dense", steps, ggufs / "fixer")


@pytest.fixture
def work(home: Path) -> Path:
    """The folder of a small project."""
    folder = home / "work"
    (folder / "add.py").write_text(OLD)
    (folder / "pyproject.toml").write_text("[project]\nname = 'adding'\n")
    return folder


def tools(chat: Chat) -> list[ToolItem]:
    return [item for item in chat.items if isinstance(item, ToolItem)]


async def consent(chat: Chat, *keys: str) -> ApprovalCard:
    """Wait for the card, and answer it."""
    await chat.until(lambda: chat.screen.query(ApprovalCard))
    card = chat.screen.query_one(ApprovalCard)
    await chat.until(lambda: card.is_ready)
    await chat.pilot.press(*keys)
    await chat.until(lambda: not card.is_attached)
    return card


async def test_a_task_is_done_with_consent_and_taken_back(fixer: Pair, work: Path) -> None:
    async with chatting(fixer, ctx=8192) as chat:
        await chat.ready()
        assert chat.screen.opened is not None
        assert chat.screen.opened.toolless == ""
        await chat.send("mend add.py")
        # What is said while it works is read with the next result.
        await chat.until(lambda: chat.screen.query(ApprovalCard))
        chat.screen.composer.focus()
        await chat.send("and nothing else")
        await chat.until(lambda: chat.screen.sending.waiting == 1)
        chat.screen.query_one(ApprovalCard).focus()
        card = await consent(chat, "y")
        assert card.proposal.diff is not None
        assert card.proposal.diff.after == NEW
        card = await consent(chat, "y")
        assert chat.said == ["mend add.py", "and nothing else"]
        assert chat.screen.sending.waiting == 0
        assert "add.add(2, 3)" in card.proposal.command
        await chat.until(lambda: "It adds now." in chat.text)
        await chat.ready()
        assert (work / "add.py").read_text() == NEW
        assert [item.is_running for item in tools(chat)] == [False] * 3
        assert "5" in tools(chat)[2].plain()
        await chat.send("/undo")
        card = await consent(chat, "y")
        assert card.proposal.diff is not None
        await chat.until(lambda: "restored: add.py" in chat.text)
        await chat.ready()
        assert (work / "add.py").read_text() == OLD
        await chat.send("/redo")
        await consent(chat, "y")
        await chat.until(lambda: (work / "add.py").read_text() == NEW)
        label = chat.app.chat_label
    # What was done is still to be seen when it is gone on with.
    async with chatting(fixer, ctx=8192, resume=label) as chat:
        await chat.ready()
        assert [item.is_running for item in tools(chat)] == [False] * 3
        assert chat.said == ["mend add.py", "and nothing else"]


async def test_no_is_told_to_the_model_with_the_reason(fixer: Pair, work: Path) -> None:
    async with chatting(fixer, ctx=8192) as chat:
        await chat.ready()
        await chat.send("mend add.py")
        await consent(chat, "n", *"later", "enter")
        await consent(chat, "n", "enter")
        await chat.until(lambda: "It adds now." in chat.text)
        await chat.ready()
        assert (work / "add.py").read_text() == OLD
        assert "User said no" in chat.text or "said no: later" in chat.text


async def test_escape_while_it_asks_ends_the_turn(fixer: Pair, work: Path) -> None:
    async with chatting(fixer, ctx=8192) as chat:
        await chat.ready()
        await chat.send("mend add.py")
        await chat.until(lambda: chat.screen.query(ApprovalCard))
        # Without the focus on the card, as when somebody has begun to write.
        await chat.pilot.pause(0.1)
        chat.screen.composer.focus()
        await chat.until(lambda: not chat.screen.query_one(ApprovalCard).has_focus)
        await chat.pilot.press("escape")
        await chat.until(lambda: not chat.screen.query(ApprovalCard))
        await chat.ready()
        assert (work / "add.py").read_text() == OLD
        assert "It adds now." not in chat.text


async def test_modes_decide_what_is_asked(fixer: Pair, work: Path) -> None:
    settings = Settings.model_validate(
        {"screen": {"animation": "none"}, "agent": {"mode": "edits", "rules": ["run: python *"]}}
    )
    async with chatting(fixer, ctx=8192, settings=settings) as chat:
        await chat.ready()
        await chat.send("mend add.py")
        await chat.until(lambda: "It adds now." in chat.text)
        await chat.ready()
        assert (work / "add.py").read_text() == NEW


async def test_in_plan_mode_nothing_changes_until_the_plan_is_accepted(
    fixer: Pair, work: Path
) -> None:
    async with chatting(fixer, ctx=8192, mode="plan") as chat:
        await chat.ready()
        await chat.send("mend add.py")
        await chat.until(lambda: chat.screen.query(ApprovalCard))
        assert chat.screen.query_one(ApprovalCard).proposal.tool == "plan"
        assert (work / "add.py").read_text() == OLD
        # A reason is the next message, and leads to another plan.
        await consent(chat, "n", *"longer", "enter")
        await chat.until(lambda: chat.said == ["mend add.py", "longer"])
        await consent(chat, "y")
        assert "Once more." in chat.text
        await chat.until(lambda: "Carry the plan out." in chat.said)
        await chat.ready()
        assert chat.screen.mode == "ask"


async def test_going_back_offers_the_files_too(fixer: Pair, work: Path) -> None:
    async with chatting(fixer, ctx=8192, mode="auto") as chat:
        await chat.ready()
        await chat.send("mend add.py")
        await chat.until(lambda: "It adds now." in chat.text or chat.screen.query(ApprovalCard))
        while chat.screen.query(ApprovalCard):
            await consent(chat, "y")
        await chat.until(lambda: "It adds now." in chat.text)
        await chat.ready()
        await chat.send("/rewind 1")
        await consent(chat, "y")
        await chat.until(lambda: chat.written == "mend add.py")
        assert (work / "add.py").read_text() == OLD


async def test_outside_a_project_there_are_no_tools(fixer: Pair) -> None:
    async with chatting(fixer, ctx=8192, settings=STILL) as chat:
        await chat.ready()
        assert chat.screen.opened is not None
        assert "no project" in chat.screen.opened.toolless


async def test_who_goes_round_in_circles_is_stopped_and_gone_on_with(
    ggufs: Path, work: Path
) -> None:
    circle = build("dense", Steps.of([call("read", path="add.py")]), ggufs / "circle")
    async with chatting(circle, ctx=8192, max_calls=5) as chat:
        await chat.ready()
        await chat.send("what is in add.py?")
        await consent(chat, "y")
        card = await consent(chat, "n", "enter")
        assert "That was call 5" in card.proposal.title
        await chat.until(lambda: "it stops here, after 5 calls" in chat.text)
        await chat.ready()
        await chat.send("/continue")
        await consent(chat, "n", "enter")
        await chat.until(lambda: "the same calls again and again bring nothing new" in chat.text)
        await chat.ready()
        assert chat.said == ["what is in add.py?"]
        assert (work / "add.py").read_text() == OLD

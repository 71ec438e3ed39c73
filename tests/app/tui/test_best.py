"""Attempts in the app: how they stand, the offer, taking one and taking it back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gemma_local.app.conversation import Conversation
from gemma_local.app.sessions.entry import Entry
from gemma_local.app.tui.approval.card import ApprovalCard
from gemma_local.app.tui.approval.details import DetailsScreen
from gemma_local.app.tui.approval.offer_card import OfferCard
from gemma_local.app.tui.transcript.contest_item import ContestItem
from tests.app.agent.working import repository
from tests.app.best.contesting import APP, CHECK, RIGHT, left_behind, mender, state_of
from tests.app.tui.chatting import Chat, chatting
from tests.app.tui.test_work import consent
from tests.ggufs import Pair, Steps, build, call

pytestmark = [pytest.mark.timeout(240)]

BEST = '/best 3 --judge "python3 check.py" mend it'
MENDED = APP.replace("return a - b", RIGHT)


@pytest.fixture(scope="session")
def pair(ggufs: Path) -> Pair:
    """Mends app.py, rightly with the seeds 3 and 5 and wrongly with 4."""
    return mender(ggufs)


@pytest.fixture
def work(home: Path) -> Path:
    """The folder of a small project."""
    return repository(home / "work", {"app.py": APP, "check.py": CHECK, "Makefile": ""})


def contest(chat: Chat) -> ContestItem:
    [item] = [item for item in chat.items if isinstance(item, ContestItem)]
    return item


async def offered(chat: Chat) -> OfferCard:
    """Wait for the offer, and until its keys count."""
    await chat.until(lambda: chat.screen.query(OfferCard), 120)
    card = chat.screen.query_one(OfferCard)
    await chat.until(lambda: card.is_ready)
    return card


async def test_the_best_is_offered_looked_at_taken_and_taken_back(pair: Pair, work: Path) -> None:
    before = state_of(work)
    async with chatting(pair, ctx=8192, seed=3, temperature=1.0) as chat:
        await chat.ready()
        await chat.send(BEST)
        await chat.until(lambda: "writing" in chat.shown or "calling" in chat.shown, 120)
        assert "3 attempts at: mend it" in chat.shown
        card = await offered(chat)
        assert state_of(work) == before
        assert "2 of 3 attempts pass; number 1 is the best" in card.proposal.title
        assert "Take attempt 1?" in shown(card) and "the same as 3" in shown(card)
        assert "a + b" in shown(card)
        # The second one is another, and the third is the same as the first.
        await chat.pilot.press("2")
        await chat.until(lambda: "does not pass" in shown(card))
        assert "a * b" in shown(card) and "take number 2" in shown(card)
        await chat.pilot.press("3")
        assert "Take attempt 2?" in shown(card)
        await chat.pilot.press("right")
        await chat.until(lambda: "Take attempt 1?" in shown(card))
        await chat.pilot.press("d")
        await chat.until(lambda: isinstance(chat.app.screen, DetailsScreen))
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.app.screen is chat.screen)
        await chat.pilot.press("t")
        await chat.until(lambda: "attempt 1 was taken" in chat.text)
        await chat.ready()
        assert (work / "app.py").read_text("utf-8") == MENDED
        assert chat.said == ["mend it"]
        assert "It is mended." in chat.answers[-1].plain()
        table = contest(chat).plain()
        assert "attempt" in table and "tokens/s together" in table
        entries = await chat.entries()
        assert [entry.message.role for entry in entries] == ["user", "assistant"]
        await chat.send("/undo")
        await consent(chat, "y")
        await chat.until(lambda: "restored: app.py" in chat.text)
        assert state_of(work) == before
        label = chat.app.chat_label
    assert left_behind() == []
    # It is part of the conversation.
    async with chatting(pair, ctx=8192, resume=label) as chat:
        await chat.ready()
        assert chat.said == ["mend it"]


async def test_none_is_taken_and_a_stale_file_is_left(pair: Pair, work: Path) -> None:
    async with chatting(pair, ctx=8192, seed=3, temperature=1.0) as chat:
        await chat.ready()
        await chat.send(BEST)
        await offered(chat)
        await chat.pilot.press("escape")
        await chat.until(lambda: "none of the attempts was taken" in chat.text)
        await chat.ready()
        assert (work / "app.py").read_text("utf-8") == APP
        assert await chat.entries() == []
        await chat.send(BEST.replace("python3 check.py", "false"))
        card = await offered(chat)
        assert "false does not pass" in shown(card)
        (work / "app.py").write_text("mine\n", "utf-8")
        await chat.pilot.press("enter")
        await chat.until(lambda: "changed since the attempts began" in chat.text)
        await chat.ready()
        assert (work / "app.py").read_text("utf-8") == "mine\n"


async def test_files_that_the_task_mentions_are_read_as_in_a_message(
    pair: Pair, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    ask = Conversation.ask

    def heard(self: Conversation, text: str, **more: Any) -> Entry:
        said.append(text)
        return ask(self, text, **more)

    monkeypatch.setattr(Conversation, "ask", heard)
    (work / "wish.md").write_text("adding must add\n", "utf-8")
    async with chatting(pair, ctx=8192, seed=3, temperature=1.0) as chat:
        await chat.ready()
        await chat.send('/best 2 --judge "python3 check.py" mend it as @wish.md says, not @gone.md')
        await offered(chat)
        assert "there is no file gone.md" in chat.text
        # Both attempts read the file, and the person sees what they wrote.
        task = "mend it as @wish.md says, not @gone.md"
        beginning = f"{task}\n\nFile wish.md:\n```markdown\nadding must add\n```\n\n[The work"
        assert [text[: len(beginning)] for text in said] == [beginning] * 2
        assert f"2 attempts at: {task}" in contest(chat).plain()
        await chat.pilot.press("t")
        await chat.until(lambda: "attempt 1 was taken" in chat.text)
        await chat.ready()
        assert chat.said == [task]
        entry = await chat.entry(1)
        ((start, end),) = entry.info["files"]
        assert entry.message.text[start:end] == "adding must add\n"
        assert entry.written == task


async def test_a_secret_in_a_task_is_asked_for_and_the_command_given_back(
    pair: Pair, work: Path
) -> None:
    (work / ".env").write_text("KEY=hidden\n", "utf-8")
    line = '/best 2 --judge "true" use @.env'
    async with chatting(pair, ctx=8192) as chat:
        await chat.ready()
        await chat.send(line)
        await chat.until(lambda: chat.screen.query(ApprovalCard))
        card = chat.screen.query_one(ApprovalCard)
        await chat.until(lambda: card.is_ready)
        await chat.pilot.press("n", "enter")
        await chat.until(lambda: chat.written == line)
        await chat.ready()
        assert not [item for item in chat.items if isinstance(item, ContestItem)]


async def test_escape_stops_all_of_them(ggufs: Path, work: Path) -> None:
    steps = Steps.of([call("run", command="echo begun; sleep 100")], ["Never said."])
    before = state_of(work)
    async with chatting(
        build("edge", steps, ggufs / "menders"), ctx=8192, mode="auto", temperature=1.0
    ) as chat:
        await chat.ready()
        await chat.send('/best 2 --judge "true" wait')
        await chat.until(lambda: chat.shown.count("calling run") == 2, 120)
        await chat.pilot.press("escape")
        await chat.until(lambda: "nothing was changed" in contest(chat).plain())
        await chat.ready()
    assert left_behind() == []
    assert state_of(work) == before


async def test_what_cannot_be_is_said(pair: Pair, home: Path) -> None:
    work = repository(home / "work", {"app.py": APP, "setup.py": ""})
    assert work.exists()
    async with chatting(pair, ctx=8192) as chat:
        await chat.ready()
        await chat.send("/best 3 mend it")
        await chat.until(lambda: "--judge" in chat.text)
        await chat.ready()
        assert not chat.screen.query(OfferCard)


def shown(card: OfferCard) -> str:
    """All text of the card."""
    from textual.widgets import Static

    from gemma_local.app.tui.lines_pane import LinesPane

    words = [str(part.render()) for part in card.query(Static)]
    return "\n".join([*words, *(pane.text for pane in card.query(LinesPane))])

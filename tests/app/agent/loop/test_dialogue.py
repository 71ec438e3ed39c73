"""Conversations with tools as the screens have them: begun, left, branched, and gone back in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from gemma_local.app import folders
from gemma_local.app.agent.terms import Terms
from gemma_local.app.dialogue import Dialogue
from gemma_local.app.options import AnswerOptions
from gemma_local.app.saving import Saving
from gemma_local.app.sessions.command import remove_states
from tests.app.agent.working import Overheard, Person
from tests.ggufs import Pair, Steps, build, call

CHANGE = call("edit", path="a.py", old="a = 1", new="a = 2")


@contextmanager
def dialogue(pair: Pair, terms: Terms, *, ctx: int = 8_192) -> Iterator[Dialogue]:
    options = AnswerOptions(model=str(pair.target), threads=1, ctx=ctx, seed=1, temperature=0.0)
    heard = Overheard()
    talk = Dialogue(options, heard, terms=terms, on_tools=heard)
    talk.prepare()
    with closing(Saving(options, print)) as saving:
        try:
            talk.open(saving)
            yield talk
        finally:
            talk.close()


@pytest.fixture
def project(home: Path) -> Path:
    """The working folder, a project."""
    work = home / "work"
    (work / "a.py").write_text("a = 1\n", encoding="utf-8")
    (work / "Makefile").touch()
    return work


@pytest.fixture
def pair(ggufs: Path) -> Pair:
    steps = Steps.of(
        [call("read", path="a.py")],
        [CHANGE],
        ["Two it is."],
        ["Again. ", call("read", path="a.py")],
        ["Still there."],
    )
    return build("edge", steps, ggufs / "dialogues")


def test_a_turn_and_the_way_back(pair: Pair, project: Path) -> None:
    with dialogue(pair, Terms("edits", consent=Person())) as talk:
        assert talk.toolless == ""
        talk.say("make it two")
        turned = talk.turn()
        assert (turned.end, len(turned.calls)) == ("answered", 2)
        assert (project / "a.py").read_text("utf-8") == "a = 2\n"
        assert talk.last is not None
        agent = talk.agent
        assert agent is not None
        undone = agent.undo()
        assert undone is not None
        agent.restore(undone)
        assert (project / "a.py").read_text("utf-8") == "a = 1\n"
        # The person's own words are known apart from what was added.
        entry = talk.say("and now?")
        assert entry.written == "and now?"
        assert "Restored" in entry.message.text


def test_without_a_project_there_are_no_tools(pair: Pair, home: Path) -> None:
    with dialogue(pair, Terms(consent=Person())) as talk:
        assert talk.agent is None
        assert "no project" in talk.toolless
        assert talk.conversation.tools == ()
        assert talk.conversation.system == ""
    assert not (home / "XDG_STATE_HOME" / "gemma-local" / "checkpoints").exists()


@pytest.mark.usefixtures("project")
def test_a_small_context_has_no_room_for_tools(pair: Pair) -> None:
    with dialogue(pair, Terms(consent=Person()), ctx=4_096) as talk:
        assert talk.agent is None
        assert "--ctx 8192" in talk.toolless
        # A turn is one answer then.
        talk.say("hello")
        assert talk.turn().answered.message is not None


def test_other_conversations_have_an_agent_of_their_own(pair: Pair, project: Path) -> None:
    with dialogue(pair, Terms("edits", consent=Person())) as talk:
        talk.say("make it two")
        talk.turn()
        first, label = talk.agent, talk.kept.label
        talk.begin_new()
        assert talk.agent is not None
        assert talk.agent is not first
        assert talk.agent.undo() is None
        talk.resume(label)
        # What was changed before can still be undone.
        assert talk.agent is not None
        undone = talk.agent.undo()
        assert undone is not None
        talk.agent.restore(undone)
        assert (project / "a.py").read_text("utf-8") == "a = 1\n"


@pytest.mark.usefixtures("project")
def test_a_message_is_answered_anew_with_tools(pair: Pair) -> None:
    with dialogue(pair, Terms("edits", consent=Person())) as talk:
        talk.say("make it two")
        talk.turn()
        talk.ask_again()
        turned = talk.turn()
        # The steps are forgotten with what was said, and so is what was read.
        assert [done.outcome for done in turned.calls] == ["ok", "failed"]
        live = talk.conversation.live
        assert [entry.message.role for entry in live].count("user") == 1


def test_a_session_that_is_deleted_takes_its_checkpoints_along(home: Path) -> None:
    kept = folders.checkpoints_path() / "6y1p5ksx"
    beside = folders.checkpoints_path().parent / "beside"
    for folder in (kept, beside):
        folder.mkdir(parents=True)
        (folder / "blob").touch()
    remove_states("6y1p5ksx")
    remove_states("../beside")
    assert not kept.exists()
    assert (beside / "blob").exists()
    assert home in kept.parents

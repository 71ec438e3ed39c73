"""A conversation and all that a person does with it, with a real engine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from gemma_local.app.dialogue import Dialogue
from gemma_local.app.errors import UsageError
from gemma_local.app.options import AnswerOptions
from gemma_local.app.saving import Saving
from gemma_local.app.sessions.store import SessionStore
from gemma_local.app.stop import Stop
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.message import Message
from tests.app.running import STORY
from tests.app.talking import Heard
from tests.ggufs import Pair, build, script
from tests.waiting import until

OTHER = script(["Quite", " another", " model", "."])


def options(pair: Pair, **more: object) -> AnswerOptions:
    return AnswerOptions(
        model=str(pair.target),
        threads=1,
        ctx=1024,
        seed=1,
        **{"temperature": 0.0, **more},  # type: ignore[arg-type]
    )


@contextmanager
def dialogue(chosen: AnswerOptions, heard: Heard | None = None) -> Iterator[Dialogue]:
    talk = Dialogue(chosen, heard or Heard())
    talk.prepare()
    with closing(Saving(chosen, print)) as saving:
        try:
            talk.open(saving)
            yield talk
        finally:
            talk.close()


def said(talk: Dialogue) -> list[str]:
    return [entry.message.text for entry in talk.conversation.entries]


@pytest.fixture
def other(ggufs: Path) -> Pair:
    return build("dense", OTHER, ggufs / "other")


@pytest.mark.usefixtures("home")
def test_conversations_are_left_and_gone_on_with(story: Pair) -> None:
    with dialogue(options(story)) as talk:
        talk.ask("first")
        first = talk.kept.label
        talk.begin_new()
        assert said(talk) == []
        talk.ask("second")
        talk.resume(first)
        assert said(talk) == ["first", STORY.text]
        # The one that is open already stays as it is.
        talk.resume(first)
        assert said(talk) == ["first", STORY.text]
    with SessionStore.open() as store:
        assert [info.messages for info in store.list()] == [2, 2]


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("save", [True, False])
def test_a_branch_leaves_what_it_came_from(story: Pair, save: bool) -> None:
    with dialogue(options(story, save=save)) as talk:
        talk.ask("first")
        talk.ask("second")
        whole, label = said(talk), talk.kept.label
        talk.branch(2)
        assert said(talk) == whole[:2]
        answered = talk.ask("third")
        assert said(talk) == [*whole[:2], "third", STORY.text]
        # What both have in common is not read again.
        assert answered.done.tally.reused_tokens > answered.done.tally.prefilled_tokens
        with pytest.raises(UsageError, match="4 messages"):
            talk.branch(9)
        talk.branch(0)
        assert said(talk) == []
        if save:
            talk.resume(label)
            assert said(talk) == whole


@pytest.mark.usefixtures("home")
def test_a_branch_before_a_summary_reads_what_was_summed_up(story: Pair) -> None:
    with dialogue(options(story)) as talk:
        talk.ask("first")
        talk.ask("second")
        talk.conversation.sum_up(Message("assistant", "Twice the story."), [1, 2])
        assert [entry.number for entry in talk.conversation.live] == [5, 3, 4]
        talk.branch(4)
        assert [entry.number for entry in talk.conversation.live] == [1, 2, 3, 4]


@pytest.mark.usefixtures("home")
def test_another_pair_goes_on_with_the_conversation(story: Pair, other: Pair) -> None:
    with dialogue(options(story)) as talk:
        talk.ask("first")
        label = talk.kept.label
        talk.change_pair(options(other))
        assert talk.kept.label == label
        answered = talk.ask("second")
        assert said(talk) == ["first", STORY.text, "second", OTHER.text]
        # It reads all of it: what another vocabulary left means nothing here.
        assert answered.done.tally.reused_tokens == 0
        with pytest.raises(GemmaLocalError):
            talk.change_pair(options(other, drafter=str(other.target)))
        talk.ask("third")
        assert said(talk)[-2:] == ["third", OTHER.text]
    with SessionStore.open() as store:
        (info,) = store.list()
        assert info.messages == 6


@pytest.mark.usefixtures("home")
def test_an_engine_that_died_is_started_again(story: Pair) -> None:
    with dialogue(options(story)) as talk:
        talk.ask("first")
        process = talk.engine._process
        assert process is not None
        process.kill()
        process.wait()
        talk.revive()
        assert talk.ask("second").done.reason == "stop"


@pytest.mark.usefixtures("home")
def test_a_new_conversation_starts_an_engine_that_has_ended(story: Pair) -> None:
    with dialogue(options(story)) as talk:
        talk.ask("first")
        first = talk.kept.label
        # As after a start that failed.
        talk.engine.close()
        assert talk.ready.target == str(story.target)
        talk.begin_new()
        talk.engine.close()
        talk.resume(first)
        assert said(talk) == ["first", STORY.text]
        talk.engine.close()
        talk.branch(0)
        assert talk.ask("second").done.reason == "stop"


@pytest.mark.usefixtures("home")
def test_thinking_is_switched_on_where_the_model_thinks(story: Pair) -> None:
    with dialogue(options(story)) as talk:
        assert talk.think(100)
        assert talk.conversation.thinking
        assert talk.think(None)
        assert not talk.conversation.thinking


@pytest.mark.usefixtures("home")
def test_an_aside_leaves_no_trace(story: Pair) -> None:
    with dialogue(options(story)) as talk:
        talk.ask("first")
        talk.ask("second")
        heard = Heard()
        aside = talk.assistant.aside([Message("user", "something else")], heard)
        assert aside.message is not None
        assert aside.message.text == heard.answer == STORY.text
        assert said(talk) == ["first", STORY.text, "second", STORY.text]
        # And what the conversation had read is still read.
        tally = talk.ask("third").done.tally
        assert tally.reused_tokens > tally.prefilled_tokens


@pytest.mark.usefixtures("home")
def test_a_stop_is_heeded_whenever_it_comes(endless: Pair) -> None:
    heard = Heard()
    with dialogue(options(endless, temperature=1.0), heard) as talk:
        before = Stop()
        before.ask()
        answered = talk.ask("never begun", stop=before)
        assert (answered.done.reason, answered.message) == ("cancelled", None)
        # Nobody answered, so the model does not read the question either.
        assert talk.conversation.live == []
        meanwhile = Stop()

        def stop_when_begun() -> None:
            until(lambda: heard.answer)
            meanwhile.ask()

        stopping = threading.Thread(target=stop_when_begun)
        stopping.start()
        answered = talk.ask("begun", stop=meanwhile)
        stopping.join()
        assert answered.done.reason == "cancelled"
        assert answered.message is not None
        assert said(talk)[-1] == answered.message.text


@pytest.mark.usefixtures("home")
def test_an_answer_is_tried_again(story: Pair) -> None:
    with dialogue(options(story)) as talk:
        with pytest.raises(UsageError, match="nothing was said"):
            talk.ask_again()
        talk.ask("first")
        talk.ask_again()
        talk.answer()
        # All of it was said, and the model reads the last of it.
        assert said(talk) == ["first", STORY.text, "first", STORY.text]
        assert [entry.number for entry in talk.conversation.live] == [3, 4]
        assert talk.assistant.sizes().keys() == {3, 4}
        talk.conversation.drop([4])
        talk.ask_again()
        talk.answer()
        assert [entry.number for entry in talk.conversation.live] == [3, 5]

"""Conversations with a real engine: nothing is read twice, nothing overruns, nothing is lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from gemma_local.app.assistant import ContextFull
from gemma_local.app.options import AnswerOptions
from gemma_local.app.sessions.store import SessionStore
from gemma_local.app.stop import Stop
from gemma_local.engine.client import EngineDied
from gemma_local.engine.messages import Event, Generate, Loading, Prefill
from gemma_local.models.chat_format import Rendering
from gemma_local.models.message import Tool
from gemma_local.models.prompt import Text
from gemma_local.models.reply_record import NO_TOOLS
from tests.app.talking import talking
from tests.ggufs import Drafter, Pair, build, script

ANSWER = [f" say{i}" for i in range(24)]
THOUGHT = [f" think{i}" for i in range(40)]
THINKER = script(["<|channel>", "thought", "\n", *THOUGHT, "<channel|>", *ANSWER])
SPEAKER = script(["Well", *ANSWER])
THINKING = AnswerOptions(temperature=0.0, seed=1, draft=3, think=0)
READ = Tool("read", "Reads a file", {"type": "object", "properties": {"path": {"type": "string"}}})


@pytest.fixture(scope="module")
def thinker(ggufs: Path) -> Pair:
    return build("edge", THINKER, ggufs / "thinker", drafter=Drafter(wrong_every=4), window=64)


@pytest.fixture(scope="module")
def speaker(ggufs: Path) -> Pair:
    return build("dense", SPEAKER, ggufs / "speaker", drafter=Drafter(wrong_every=4), window=64)


def question(turn: int) -> str:
    return f"question {turn}: " + "what is it that you say of the file, please? " * 3


def test_ten_turns_read_nothing_twice(speaker: Pair, tmp_path: Path) -> None:
    with talking(speaker, tmp_path, context=2048) as talk:
        known = 0
        for turn in range(10):
            tally = talk.ask(question(turn)).done.tally
            assert talk.heard.answer == SPEAKER.text
            new = tally.prompt_tokens - known
            assert tally.prefilled_tokens <= new + 64
            assert tally.accepted > 0
            known = tally.prompt_tokens + tally.emitted_tokens
            talk.rest()
        assert known > 10 * 64


def test_a_dropped_thought_costs_idle_time_and_no_waiting(thinker: Pair, tmp_path: Path) -> None:
    with talking(thinker, tmp_path, THINKING, context=2048) as talk:
        history = 0
        for turn in range(10):
            answered = talk.ask(question(turn))
            assert (talk.heard.thought, talk.heard.answer) == ("".join(THOUGHT), "".join(ANSWER))
            tally = answered.done.tally
            assert tally.prefilled_tokens <= tally.prompt_tokens - history + 64
            talk.heard.events.clear()
            talk.rest()
            history = talk.assistant.use().prompt
            # Read anew is what lies behind the cut, and that is this answer.
            assert history < tally.prompt_tokens + len(ANSWER) + 8
        assert Text("thought\n") not in talk.conversation.history().prompt


def test_without_rest_it_is_right_as_well(thinker: Pair, tmp_path: Path) -> None:
    with talking(thinker, tmp_path, THINKING, context=2048) as talk:
        for turn in range(4):
            tally = talk.ask(question(turn)).done.tally
            assert talk.heard.answer == "".join(ANSWER)
        assert tally.reused_tokens > tally.prefilled_tokens


def test_a_message_in_the_middle_of_the_rest_does_not_wait(thinker: Pair, tmp_path: Path) -> None:
    with talking(thinker, tmp_path, THINKING, context=4096) as talk:
        for turn in range(6):
            talk.ask(question(turn))
            talk.assistant.idle()
        assert talk.heard.answer == "".join(ANSWER)
        assert talk.heard.notices == []


def test_after_a_restart_the_state_comes_from_disk(speaker: Pair, tmp_path: Path) -> None:
    known = 0
    for turn in range(10):
        with SessionStore.open(tmp_path / "sessions.sqlite3") as store:
            latest = store.latest(tmp_path)
            session = (
                store.resume(latest.id) if latest else store.create(tmp_path, "m", "tokenizer")
            )
            entries = session.entries(tokenizer="tokenizer")
            with (
                session,
                talking(
                    speaker,
                    tmp_path,
                    record=session,
                    entries=entries,
                    session=session.id,
                    context=2048,
                ) as talk,
            ):
                tally = talk.ask(question(turn)).done.tally
                assert tally.prefilled_tokens <= tally.prompt_tokens - known + 64
                assert turn == 0 or tally.reused_tokens > 50
                talk.rest()
                known = talk.assistant.use().prompt
                talk.engine.save()
    assert len(entries) == 18


def test_the_window_is_never_overrun_and_the_person_is_told(speaker: Pair, tmp_path: Path) -> None:
    with talking(speaker, tmp_path, context=1024, system="say it") as talk:
        for turn in range(16):
            answered = talk.ask(question(turn))
            assert answered.done.reason == "stop"
            talk.rest()
            assert talk.assistant.use().prompt < 1024
        told = "\n".join(talk.heard.notices)
        assert "% full" in told
        assert "became a summary" in told
        # The transcript has all of it, and the last question is read word for word.
        questions = [e.message.text for e in talk.conversation.entries if e.message.role == "user"]
        assert questions == [question(turn) for turn in range(16)]
        assert question(15) in [m.text for m in talk.conversation.view().messages]
        assert talk.conversation.view().messages[0].text == "say it"


def test_compacting_in_the_middle_of_a_conversation(speaker: Pair, tmp_path: Path) -> None:
    with talking(speaker, tmp_path, context=2048) as talk:
        for turn in range(6):
            talk.ask(question(turn))
        done = talk.assistant.compact()
        assert done is not None
        assert done.summarised >= 8
        assert done.summary == SPEAKER.text
        assert talk.ask("and now?").done.reason == "stop"
        assert talk.assistant.use().prompt < done.before


def test_what_can_never_fit_is_refused_with_a_remedy(speaker: Pair, tmp_path: Path) -> None:
    with talking(speaker, tmp_path, context=512) as talk:
        talk.ask("hello")
        with pytest.raises(ContextFull, match="--ctx 2048"):
            talk.ask("read the file " * 300)
        assert talk.ask("hello again").done.reason == "stop"


def test_a_call_without_tools_is_text(ggufs: Path, tmp_path: Path) -> None:
    spec = script(["<|tool_call>", "call", ":", "read", "{", "}", "<tool_call|>"])
    with talking(build("dense", spec, ggufs / "caller"), tmp_path) as talk:
        answered = talk.ask("read it")
        assert answered.message is not None
        assert answered.message.text == talk.heard.answer
        assert "read{}" in answered.message.text
        assert talk.heard.notices == [NO_TOOLS]
        assert answered.message.calls == ()


def test_calls_and_results_are_one_turn(ggufs: Path, tmp_path: Path) -> None:
    spec = script(
        ["<|tool_call>", "call", ":", "read", "{", "}", "<tool_call|>"], end="<|tool_response>"
    ).then(["It", " is", " fine"], after="<tool_response|>")
    files = build("dense", spec, ggufs / "agent", drafter=Drafter(wrong_every=4), window=64)
    with talking(files, tmp_path, tools=[READ], system="say it") as talk:
        answered = talk.ask("read it")
        [call] = answered.calls
        assert (call.name, call.verdict) == ("read", "ok")
        talk.conversation.add_result("read", "the code")
        after = talk.assistant.answer()
        assert talk.heard.answer == "It is fine"
        # Read are the result and what opens the answer, and nothing before them.
        before = answered.done.tally.prompt_tokens + answered.done.tally.emitted_tokens
        tally = after.done.tally
        assert tally.reused_tokens >= before - 1
        assert tally.prefilled_tokens <= tally.prompt_tokens - before + 1


def test_only_a_thought_is_no_answer_and_said(ggufs: Path, tmp_path: Path) -> None:
    spec = script(["<|channel>", "thought", "\n", " hm", "<channel|>"])
    with talking(build("edge", spec, ggufs / "silent"), tmp_path, THINKING) as talk:
        answered = talk.ask("well?")
        assert answered.message is not None and answered.message.thought
        assert any("gave no answer" in notice for notice in talk.heard.notices)
        # It is kept, and not read again.
        assert [entry.dropped for entry in talk.conversation.entries] == [True, True]
        assert talk.ask("well?").done.tally.prompt_tokens == answered.done.tally.prompt_tokens


@pytest.mark.skipif(os.name == "nt", reason="kills a process")
def test_the_death_of_the_engine_between_answers_costs_nothing_but_time(
    speaker: Pair, tmp_path: Path
) -> None:
    with talking(speaker, tmp_path) as talk:
        talk.ask("hello")
        talk.kill_engine()
        assert talk.ask("and now?").done.reason == "stop"
        assert talk.heard.answer == SPEAKER.text
        assert len(talk.heard.deaths) == 1


@pytest.mark.skipif(os.name == "nt", reason="kills a process")
@pytest.mark.parametrize("deaths", [2, 3])
def test_an_engine_that_dies_while_it_is_started_again(
    speaker: Pair, tmp_path: Path, deaths: int
) -> None:
    with talking(speaker, tmp_path) as talk:
        talk.ask("hello")
        killed: set[int] = set()

        def kill() -> None:
            if talk.engine.pid is not None and len(killed) < deaths:
                killed.add(talk.engine.pid)
                os.kill(talk.engine.pid, signal.SIGKILL)

        def kill_while_it_loads(event: Event) -> None:
            if isinstance(event, Loading):
                kill()

        talk.heard.event = kill_while_it_loads  # type: ignore[method-assign]
        kill()
        if deaths == 2:
            assert talk.ask("and now?").done.reason == "stop"
            assert talk.heard.answer == SPEAKER.text
        else:
            with pytest.raises(EngineDied):
                talk.ask("and now?")
        assert len(talk.heard.deaths) == 2


@pytest.mark.skipif(os.name == "nt", reason="kills a process")
def test_what_was_answered_when_the_engine_died_twice_is_kept(ggufs: Path, tmp_path: Path) -> None:
    endless = script([f" step{i}" for i in range(150)], loop_to=0)
    files = build("dense", endless, ggufs / "deadly")
    with talking(files, tmp_path, context=4096) as talk:
        pids = set()

        def kill_once_a_life(*_: object) -> None:
            if talk.engine.pid is not None and talk.engine.pid not in pids:
                pids.add(talk.engine.pid)
                os.kill(talk.engine.pid, signal.SIGKILL)

        talk.heard.parts = kill_once_a_life  # type: ignore[assignment, method-assign]
        with pytest.raises(EngineDied):
            talk.ask("go on")
        [asked, answered] = talk.conversation.live
        assert (asked.message.role, answered.state) == ("user", "stopped")
        assert endless.text.startswith(answered.message.text) and answered.message.text


def test_ctrl_c_stops_a_summary(speaker: Pair, tmp_path: Path) -> None:
    with talking(speaker, tmp_path, context=2048) as talk:
        for turn in range(6):
            talk.ask(question(turn))
        before = talk.conversation.view()
        run = talk.assistant._idle.run

        def stop_at_once(request: Generate) -> Iterator[Event]:
            talk.engine.cancel(request.id)
            for event in run(request):
                talk.engine.cancel(request.id)
                yield event

        talk.assistant._idle.run = stop_at_once  # type: ignore[assignment, method-assign]
        assert talk.assistant.compact() is None
        assert talk.conversation.view() == before


def test_a_stop_ends_a_summary_and_all_is_as_it_was(speaker: Pair, tmp_path: Path) -> None:
    stop = Stop()
    with talking(speaker, tmp_path, context=2048) as talk:
        for turn in range(6):
            talk.ask(question(turn))
        before = talk.conversation.view()
        talk.heard.event = lambda event: stop.ask()  # type: ignore[method-assign]
        assert talk.assistant.compact(stop) is None
        assert stop.is_asked and talk.conversation.view() == before
        assert talk.assistant.compact() is not None


@pytest.mark.skipif(os.name == "nt", reason="kills a process")
def test_an_engine_that_dies_over_a_summary_costs_the_summary(
    speaker: Pair, tmp_path: Path
) -> None:
    with talking(speaker, tmp_path, context=2048) as talk:
        for turn in range(6):
            talk.ask(question(turn))
        before = talk.conversation.view()

        def kill_once(event: Event) -> None:
            if isinstance(event, Prefill) and not talk.heard.deaths:
                assert talk.engine.pid is not None
                os.kill(talk.engine.pid, signal.SIGKILL)

        talk.heard.event = kill_once  # type: ignore[method-assign]
        done = talk.assistant.compact()
        assert done is not None and (done.summarised, done.freed) == (0, 0)
        assert len(talk.heard.deaths) == 1 and talk.conversation.view() == before
        assert talk.ask("and now?").done.reason == "stop"


def test_a_model_that_sums_nothing_up_loses_nothing(ggufs: Path, tmp_path: Path) -> None:
    silent = build("dense", script([" "]), ggufs / "silent")
    with talking(silent, tmp_path, context=2048) as talk:
        for turn in range(6):
            talk.add(question(turn), "so it is " * 20)
        before = talk.conversation.view()
        done = talk.assistant.compact()
        assert done is not None and (done.summarised, done.summary) == (0, "")
        assert talk.conversation.view() == before


@pytest.mark.skipif(os.name == "nt", reason="kills a process")
def test_an_answer_that_never_began_leaves_no_question_behind(
    speaker: Pair, tmp_path: Path
) -> None:
    with talking(speaker, tmp_path) as talk:
        talk.ask("hello")
        before, make = talk.conversation.view(), talk.assistant._make_request

        def kill(event: Event | None = None) -> None:
            if event is None or isinstance(event, Loading):
                assert talk.engine.pid is not None
                # What it said before it died may be heard after.
                with suppress(ProcessLookupError):
                    os.kill(talk.engine.pid, signal.SIGKILL)

        def kill_first(rendering: Rendering) -> Generate:
            kill()
            return make(rendering)

        talk.assistant._make_request = kill_first
        # And once more while it is started again.
        talk.heard.event = kill  # type: ignore[method-assign]
        with pytest.raises(EngineDied):
            talk.ask("and now?")
        assert talk.heard.answer == "" and talk.conversation.view() == before
        talk.assistant._make_request = make
        talk.heard.event = lambda event: None  # type: ignore[method-assign]
        assert talk.ask("and now?").done.reason == "stop"

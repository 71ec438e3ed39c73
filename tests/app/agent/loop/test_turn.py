"""Turns of the model's: order, what is read again, stopping, steering, going on, and deaths."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import pytest

from gemma_local.app.agent.events import ToolEnded, ToolStarted
from gemma_local.app.agent.loop import STEERED
from gemma_local.app.agent.tools.list import List
from gemma_local.app.errors import UsageError
from gemma_local.app.options import AnswerOptions
from gemma_local.app.sessions.store import SessionStore
from gemma_local.app.stop import Stop
from tests.app.agent.working import repository, working
from tests.ggufs import Drafter, Pair, Steps, build, call, script
from tests.ggufs.steps import Call
from tests.waiting import PATIENCE

FILES = {f"f{i}.py": f"x{i} = {i}\n" * 12 for i in range(20)}
DONE = ["It is done."]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(tmp_path / "project", FILES)


def steps(ggufs: Path, *said: Sequence[str | Call]) -> Pair:
    return build("edge", Steps.of(*said), ggufs / "turns")


def test_in_a_turn_of_twenty_calls_only_results_are_read(ggufs: Path, root: Path) -> None:
    said = [[call("read", path=path)] for path in FILES]
    pair = build("dense", Steps.of(*said, DONE), ggufs / "turns")
    with working(pair, root) as work:
        turned = work.do("read them all")
        assert len(turned.calls) == 20
        known = 0
        for tally in work.tallies:
            if known:
                new = tally.prompt_tokens - known
                assert tally.prefilled_tokens <= new + 64
            known = tally.prompt_tokens + tally.emitted_tokens
        assert sum(tally.accepted for tally in work.tallies) > 20


def test_with_a_sliding_window_it_is_the_same(ggufs: Path, root: Path) -> None:
    # A script says the same call after every result; what it brings differs each time.
    tick = "date +%N"
    spec = script(
        ["<|tool_call>", "call:run{command:", '<|"|>', tick, '<|"|>', "}", "<tool_call|>"],
        end="<|tool_response>",
    ).then(["<|tool_call>"], after="<tool_response|>", end="call:run{command:")
    pair = build("dense", spec, ggufs / "turns", drafter=Drafter(wrong_every=4), window=64)
    with working(pair, root, most_calls=20, alone=True) as work:
        turned = work.do("go on and on")
        assert (turned.end, len(turned.calls)) == ("limit", 20)
        known = 0
        for tally in work.tallies:
            if known:
                assert tally.prefilled_tokens <= tally.prompt_tokens - known + 64
            known = tally.prompt_tokens + tally.emitted_tokens


def test_several_calls_are_carried_out_in_order(ggufs: Path, root: Path) -> None:
    said = [
        call("read", path="f1.py"),
        call("edit", path="f1.py", old="x1 = 1", new="y = 2", all=True),
        call("search", pattern="y = 2", path="f1.py"),
    ]
    with working(steps(ggufs, said, DONE), root) as work:
        turned = work.do("change it")
        assert [done.tool for done in turned.calls] == ["read", "edit", "search"]
        roles = [entry.message.role for entry in work.conversation.entries]
        assert roles == ["user", "assistant", "tool", "tool", "tool", "assistant"]
        assert "y = 2" in work.results[2].text
        kinds = [type(event).__name__ for event in work.heard.tools]
        assert kinds == ["ToolStarted", "ToolEnded"] * 3
        assert [event.id for event in work.heard.started] == ["2.0", "2.1", "2.2"]


def test_what_the_person_writes_meanwhile_comes_with_the_next_result(
    ggufs: Path, root: Path
) -> None:
    thinks = AnswerOptions(temperature=0.0, seed=1, draft=3, think=0)
    said = [call("read", path="f1.py"), call("read", path="f2.py")]
    # Behind a result the prompt has begun a thought already.
    pair = steps(
        ggufs,
        said,
        ["Fine. ", "<channel|>", call("read", path="f3.py")],
        ["So. ", "<channel|>", *DONE],
    )
    waiting = [["not f3, please", "use f4"], []]
    with working(pair, root, options=thinks) as work:
        work.do("read", steer=lambda: waiting.pop(0))
        first, second, third = work.results
        assert first.result is None
        assert third.result is None
        # Under a key of its own, which no text of a file can imitate.
        assert second.result == {
            "output": second.text,
            "user_says": "not f3, please\n\nuse f4",
        }
        assert work.heard.words == ["not f3, please", "use f4"]
        entries = {entry.number: entry for entry in work.conversation.entries}
        assert entries[4].info[STEERED] == ["not f3, please", "use f4"]
        before, after = work.tallies[:2]
        new = after.prompt_tokens - before.prompt_tokens - before.emitted_tokens
        assert after.prefilled_tokens <= new + 1


def test_nothing_but_a_thought_costs_no_result(ggufs: Path, root: Path) -> None:
    thinks = AnswerOptions(temperature=0.0, seed=1, draft=3, think=0)
    pair = steps(ggufs, [call("read", path="f1.py")], ["Hm. ", "<channel|>"], DONE)
    with working(pair, root, options=thinks) as work:
        turned = work.do("read")
        # It was asked once more.
        assert [answered.done.reason for answered in work.heard.answers] == ["stop"] * 3
        assert turned.answered.message is not None
        assert turned.answered.message.thought == "Hm. "
        assert len(work.results) == 1
        assert work.conversation.awaits_answer


def test_a_turn_that_was_stopped_between_two_calls_goes_on(ggufs: Path, root: Path) -> None:
    said = [call("read", path="f1.py"), call("read", path="f2.py")]
    stop = Stop()
    with working(steps(ggufs, said, DONE), root) as work:

        def stop_after_the_first(heard: object) -> None:
            if isinstance(heard, ToolEnded):
                stop.ask()

        work.heard.does = stop_after_the_first
        turned = work.do("read", stop)
        assert (turned.end, len(turned.calls)) == ("stopped", 1)
        again = work.agent.turn()
        assert (again.end, again.calls) == ("answered", [])
        assert work.results[1].text == "It was interrupted and brought no result."
        assert work.heard.answer == "It is done."
        with pytest.raises(UsageError, match="nothing to go on with"):
            work.agent.turn()


def test_a_stop_in_the_answer_runs_none_of_its_calls(ggufs: Path, root: Path) -> None:
    words = [f" word{i}" for i in range(60)]
    pair = steps(ggufs, [*words, call("write", path="new.txt", content="a")], DONE)
    stop = Stop()
    with working(pair, root) as work:
        work.heard.parts = lambda *_: stop.ask()  # type: ignore[method-assign]
        turned = work.do("write", stop)
        assert (turned.end, turned.calls) == ("stopped", [])
        assert not (root / "new.txt").exists()


def test_a_message_after_a_stop_is_answered_as_usual(ggufs: Path, root: Path) -> None:
    said = [call("read", path="f1.py"), call("read", path="f2.py")]
    stop = Stop()
    with working(steps(ggufs, said, DONE), root) as work:

        def stop_after_the_first(heard: object) -> None:
            if isinstance(heard, ToolEnded):
                stop.ask()

        work.heard.does = stop_after_the_first
        work.do("read", stop)
        turned = work.do("never mind")
        assert turned.end == "answered"
        roles = [message.role for message in work.conversation.view().messages]
        assert roles == ["system", "user", "assistant", "tool", "tool", "user", "assistant"]


@pytest.mark.skipif(os.name == "nt", reason="kills a process")
def test_the_death_of_the_engine_makes_nothing_run_twice(ggufs: Path, root: Path) -> None:
    count = "echo x >> count.txt"
    pair = steps(ggufs, [call("run", command=count)], [call("read", path="count.txt")], DONE)
    with working(pair, root) as work:

        def kill(heard: object) -> None:
            if isinstance(heard, ToolStarted) and work.engine.pid is not None:
                os.kill(work.engine.pid, signal.SIGKILL)

        work.heard.does = kill
        turned = work.do("count")
        assert (turned.end, len(turned.calls)) == ("answered", 2)
        assert len(work.heard.deaths) == 2
        assert work.read("count.txt") == "x\n"


@pytest.mark.skipif(os.name == "nt", reason="kills a process")
def test_a_death_in_the_middle_of_a_call_finishes_it(ggufs: Path, root: Path) -> None:
    words = [f" word{i}" for i in range(60)]
    pair = steps(ggufs, [*words, call("write", path="new.txt", content="a")], DONE)
    with working(pair, root) as work:
        pids: list[int] = []

        def kill(*_: object) -> None:
            if not pids and work.engine.pid is not None:
                pids.append(work.engine.pid)
                os.kill(work.engine.pid, signal.SIGKILL)

        work.heard.parts = kill  # type: ignore[method-assign, assignment]
        turned = work.do("write")
        assert [done.outcome for done in turned.calls] == ["ok"]
        assert len(work.heard.deaths) == 1
        assert work.read("new.txt") == "a"


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("place", ["step", "carry_out"])
def test_a_bug_in_a_tool_is_a_result_and_the_turn_goes_on(
    ggufs: Path, root: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    def broken(*_: object) -> NoReturn:
        raise RuntimeError("never")

    pair = steps(ggufs, [call("list"), call("read", path="f1.py")], DONE)
    with working(pair, root) as work:
        [tool] = [tool for tool in work.agent.bench.tools if isinstance(tool, List)]
        step = tool.step({})
        monkeypatch.setattr(List if place == "step" else type(step), place, broken)
        turned = work.do("look")
        assert turned.end == "answered"
        assert [done.outcome for done in turned.calls] == ["failed", "ok"]
        assert turned.calls[0].summary == "went wrong"
        failed, read = work.results
        assert "The tool itself failed, and nothing can be done about it" in failed.text
        assert "RuntimeError('never')" in failed.text and "x1 = 1" in read.text


def test_a_session_with_tools_is_gone_on_with(ggufs: Path, root: Path, tmp_path: Path) -> None:
    items = ["[x] look", "[~] change"]
    pair = steps(
        ggufs,
        ["First. ", call("todo", items=items), call("read", path="f1.py")],
        ["That was it."],
        ["Now. ", call("edit", path="f1.py", old="x1", new="y1", all=True)],
        ["I must read it again. ", call("read", path="f1.py")],
        DONE,
    )
    with SessionStore.open(tmp_path / "sessions.sqlite3") as store:
        session = store.create(tmp_path, "m", "tokenizer")
        with session, working(pair, root, record=session, session=session.id) as work:
            work.do("look")
            before = work.conversation.view()
        with store.resume(session.id) as session:
            entries = session.entries(tokenizer="tokenizer")
            how = {"record": session, "entries": entries, "session": session.id}
            with working(pair, root, **how) as work:  # type: ignore[arg-type]
                assert work.conversation.view() == before
                assert [str(item) for item in work.agent.bench.todos.items] == items
                shown = [e.info["shown"] for e in entries if e.message.role == "tool"]
                assert [each["outcome"] for each in shown] == ["ok", "ok"]
                turned = work.do("change it")
                # What was read before the end of the process is not taken for granted.
                assert [done.outcome for done in turned.calls] == ["failed", "ok"]


def test_a_chain_that_outgrows_the_window_goes_on(ggufs: Path, root: Path) -> None:
    text = "".join(f"line {i} of many\n" for i in range(20))
    for i in range(6):
        (root / f"long{i}.txt").write_text(f"{i}\n{text}", encoding="utf-8")
    said = [[call("read", path=f"long{i}.txt")] for i in range(6)]
    with working(steps(ggufs, *said, DONE), root, context=4_096) as work:
        turned = work.do("read them all")
        assert (turned.end, len(turned.calls)) == ("answered", 6)
        assert all(tally.prompt_tokens < 4_096 for tally in work.tallies)
        assert "dropped to save room" in work.results[0].text
        # The newest is there word for word, and so is what the person asked for.
        assert "line 19 of many" in work.results[-1].text
        assert work.conversation.view().messages[1].text == "read them all"
        assert any("became one line" in notice for notice in work.heard.notices)


def test_the_beginning_is_read_while_the_person_writes(ggufs: Path, root: Path) -> None:
    pair = steps(ggufs, DONE, ["Again."])
    with working(pair, root) as work:
        work.do("hello")
        without = work.tallies[0].prefilled_tokens
    with working(pair, root) as work:
        work.agent._assistant.idle()
        thread = work.agent._assistant._idle._thread
        assert thread is not None
        thread.join(PATIENCE)
        work.do("hello")
        assert work.tallies[0].prefilled_tokens < 40 < 1_500 < without


def test_the_beginning_is_kept_for_the_next_conversation(
    ggufs: Path, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gemma_local.app.assistant.LONG_READING", 0.0)
    pair = steps(ggufs, DONE, ["Again."])
    for session in ("one", "two"):
        with working(pair, root, session=session) as work:
            work.agent._assistant.idle()
            thread = work.agent._assistant._idle._thread
            assert thread is not None
            thread.join(PATIENCE)
            work.agent._assistant.wake()
        assert len(list((tmp_path / "states").glob("*.state"))) == 1
    with working(pair, root, session="three") as work:
        work.do("hello")
        assert work.tallies[0].prefilled_tokens < 40


def test_an_answer_that_repeats_itself_is_tried_again(ggufs: Path, root: Path) -> None:
    # It says one thing for ever, and at a higher temperature another that ends.
    spec = script([{" round": 0.75, " out": 0.25}, {" and": 0.75, "<turn|>": 0.25}], loop_to=0)
    with working(build("edge", spec, ggufs / "turns"), root) as work:
        turned = work.do("say it")
        assert turned.end == "answered"
        assert [answered.done.reason for answered in work.heard.answers] == ["loop", "stop"]
        assert any("in other words" in notice for notice in work.heard.notices)
        # What went round in circles is not read again.
        assert work.conversation.entries[1].dropped

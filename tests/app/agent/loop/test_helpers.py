"""Helpers: what the model has found out by others that only look."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from gemma_local.app.agent.events import ToolEnded, ToolOutput, ToolStarted
from gemma_local.app.agent.helpers import MOST_CALLS
from gemma_local.app.agent.terms import HELPED_FROM, Terms
from gemma_local.app.agent.turn import Turned
from gemma_local.app.dialogue import Dialogue
from gemma_local.app.options import AnswerOptions
from gemma_local.app.saving import Saving
from gemma_local.app.stop import Stop
from tests.app.agent.working import Overheard
from tests.ggufs import Pair, Steps, build, call
from tests.ggufs.steps import Call, Either

pytestmark = pytest.mark.timeout(240)


@contextmanager
def helped(
    pair: Pair, *, helped_from: int = 0, heard: Overheard | None = None
) -> Iterator[Dialogue]:
    """A conversation with a model that may have helpers, if it has ``helped_from`` parameters."""
    options = AnswerOptions(
        model=str(pair.target), threads=1, ctx=8_192, seed=1, temperature=0.0, save=False
    )
    heard = Overheard() if heard is None else heard
    terms = Terms("auto", tools="on", helped_from=helped_from)
    talk = Dialogue(options, heard, terms=terms, on_tools=heard)
    talk.prepare()
    with closing(Saving(options, print)) as saving:
        try:
            talk.open(saving)
            yield talk
        finally:
            talk.close()


def turn(talk: Dialogue, stop: Stop | None = None) -> Turned:
    talk.say("look around")
    return talk.turn(stop)


def looks(count: int) -> list[list[str | Either | Call]]:
    """Steps that each look at something else."""
    return [[f"Look {n}. ", call("read", path="a.py", offset=n)] for n in range(1, count)]


@pytest.fixture
def project(home: Path) -> Path:
    """The working folder."""
    work = home / "work"
    (work / "a.py").write_text("a = 1\n", encoding="utf-8")
    (work / "Makefile").touch()
    return work


@pytest.fixture
def asker(ggufs: Path) -> Pair:
    """Asks two helpers at once. These are the same model, and would ask as well and change a file:
    since that is not done they look, and report."""
    steps = Steps.of(
        [call("task", prompt="What is a?"), call("task", prompt="And where is it?")],
        [call("write", path="c.py", content="c = 3\n")],
        ["I look. ", call("read", path="a.py")],
        ["It is one."],
    )
    return build("edge", steps, ggufs / "askers")


def test_helpers_look_side_by_side_and_report(asker: Pair, project: Path) -> None:
    heard = Overheard()
    with helped(asker, heard=heard) as talk:
        assert talk.ready.sequences == 2
        turned = turn(talk)
        results = [e.message for e in talk.conversation.entries if e.message.role == "tool"]
        tallies = [answered.done.tally for answered in heard.answers]
    assert turned.end == "answered"
    # Both were begun before one of them had ended, and told what they looked at.
    assert [type(event) for event in heard.tools[:2]] == [ToolStarted, ToolStarted]
    first, second = heard.tools[0].id, heard.tools[1].id
    assert heard.started[0].title == "What is a?"
    lines: dict[str, list[str]] = {first: [], second: []}
    for event in heard.tools:
        if isinstance(event, ToolOutput):
            lines[event.id].append(event.text)
    for told in lines.values():
        assert told[-1] == "read a.py: 1 line\n"
        assert [line.split()[0] for line in told] == ["task", "task", "write", "read"]
        assert all("only looks" in line for line in told[:-1])
    assert [each.text for each in results[:2]] == ["It is one."] * 2
    assert [each.summary for each in turned.calls[:2]] == ["4 calls, 34 tokens"] * 2
    # Only the model itself has written: with consent, as always.
    assert [each.tool for each in turned.calls] == ["task", "task", "write", "read"]
    assert (project / "c.py").exists()
    # What was read of the conversation was still there when the helpers were done.
    assert tallies[1].reused_tokens >= tallies[0].prompt_tokens - 16


def test_nothing_a_helper_does_can_change_anything(ggufs: Path, project: Path) -> None:
    steps = Steps.of(
        [call("task", prompt="Tidy up.")],
        [call("write", path="c.py", content="c = 3\n"), call("run", command="rm a.py")],
        ["Done."],
    )
    heard = Overheard()
    with helped(build("edge", steps, ggufs / "askers"), heard=heard) as talk:
        talk.say("look around")
        stop = Stop()
        heard.does = lambda event: (
            stop.ask() if isinstance(event, ToolEnded) and event.outcome == "ok" else None
        )
        turned = talk.turn(stop)
    assert turned.end == "stopped"
    assert [each.tool for each in turned.calls] == ["task"]
    assert sorted(path.name for path in project.iterdir()) == ["Makefile", "a.py", "letter.txt"]


def test_a_helper_that_does_not_come_to_an_end_is_stopped(ggufs: Path, project: Path) -> None:
    """It may make so many calls; what it says is then asked for, and not waited for."""
    steps = Steps.of([call("task", prompt="Find it.")], *looks(30), ["Never said."])
    heard = Overheard()
    with helped(build("edge", steps, ggufs / "askers"), heard=heard) as talk:
        stop = Stop()
        heard.does = lambda event: stop.ask() if isinstance(event, ToolEnded) else None
        turned = turn(talk, stop)
    [task] = turned.calls
    assert task.summary.startswith(f"{MOST_CALLS - 2} calls")
    assert task.body.startswith("Look ")


def test_a_stop_ends_helpers_too(ggufs: Path, project: Path) -> None:
    endless = Steps.of(
        [call("task", prompt="One."), call("task", prompt="Two."), call("task", prompt="Three.")],
        *looks(9),
        ["Never said."],
    )
    heard, stop = Overheard(), Stop()
    with helped(build("edge", endless, ggufs / "askers"), heard=heard) as talk:
        heard.does = lambda event: stop.ask() if isinstance(event, ToolOutput) else None
        turned = turn(talk, stop)
    assert turned.end == "stopped"
    assert {each.outcome for each in turned.calls} == {"stopped"}
    assert len(turned.calls) in (1, 2, 3)
    assert len(heard.ended) == 3


def test_helpers_survive_the_death_of_the_engine(asker: Pair, project: Path) -> None:
    heard, killed = Overheard(), list[int]()
    with helped(asker, heard=heard) as talk:

        def kill(event: object) -> None:
            pid = talk.engine.pid
            if isinstance(event, ToolOutput) and not killed and pid is not None:
                killed.append(pid)
                os.kill(pid, signal.SIGKILL)

        heard.does = kill
        turned = turn(talk)
    assert turned.end == "answered"
    assert [each.body for each in turned.calls[:2]] == ["It is one."] * 2
    assert any("new engine" in e.text for e in heard.tools if isinstance(e, ToolOutput))


def test_small_models_have_none(asker: Pair, project: Path) -> None:
    with helped(asker, helped_from=HELPED_FROM) as talk:
        assert talk.ready.sequences == 1
        assert "task" not in [tool.name for tool in talk.conversation.tools]


@pytest.mark.parametrize(
    ("label", "are_helped"),
    [("E2B", False), ("E4B", False), ("12B", True), ("26B-A4B", True), ("31B", True)],
)
def test_which_sizes_have_helpers(label: str, are_helped: bool) -> None:
    from gemma_local.models.catalog import load_catalog

    [size] = [size for size in load_catalog().sizes if size.label == label]
    assert Terms().have_helpers(size.parameters) is are_helped
    assert not Terms(tools="off").have_helpers(size.parameters)

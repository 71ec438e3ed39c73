"""Contests from beginning to end: what is offered, and what is left alone."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import threading
from pathlib import Path

import psutil
import pytest

from gemma_local.app import folders
from gemma_local.app.best.errors import Ended, NoAttempts, NotTaken
from gemma_local.app.best.standing import Standing
from gemma_local.app.best.taking import take
from gemma_local.app.best.words import as_json, done_line, failures, headline, overview
from gemma_local.app.stop import Stop
from tests.app.best.contesting import (
    APP,
    PASSES,
    RIGHT,
    WRONG,
    desk,
    git,
    left_behind,
    state_of,
)
from tests.ggufs import Pair, Steps, build, call
from tests.waiting import nap, until

pytestmark = pytest.mark.timeout(240)


def test_the_attempt_that_passes_is_the_best_and_nothing_has_changed(
    pair: Pair, project: Path
) -> None:
    before = state_of(project)
    with desk(pair, seed=3, at_once=3) as here:
        assert here.talk.ready.sequences == 3
        result = here.best(3)
        assert here.talk.conversation.entries == []
    assert [outcome.passes for outcome in result.outcomes] == [True, False, True]
    assert [outcome.seed for outcome in result.outcomes] == [3, 4, 5]
    assert [place.numbers for place in result.places] == [(1, 3), (2,)]
    texts = [outcome.changes.files[0].after for outcome in result.outcomes]
    right, wrong = (APP.replace("return a - b", text).encode() for text in (RIGHT, WRONG))
    assert texts == [right, wrong, right]
    assert all(outcome.calls == 2 and outcome.tokens > 20 for outcome in result.outcomes)
    # What they begin with was read once.
    read = [outcome.read for outcome in result.outcomes]
    assert max(read) > 2_000 and sum(read) < max(read) + 600
    assert headline(result) == (
        "2 of 3 attempts pass; number 1 is the best, and 2 of 3 came to the same changes"
    )
    assert "AssertionError" in failures(result) and "attempts/" not in failures(result)
    last = {each.number: each for each in here.heard.standings}
    assert [last[n].state for n in (1, 2, 3)] == ["done"] * 3
    assert [last[n].detail for n in (1, 2, 3)] == ["passes", "exit status 1", "passes"]
    assert (project / "app.py").read_text("utf-8") == APP
    assert state_of(project) == before
    assert left_behind() == []


def test_with_one_sequence_they_take_turns_and_come_to_the_same(pair: Pair, project: Path) -> None:
    with desk(pair, seed=3, at_once=1) as here:
        result = here.best(3)
    assert [outcome.passes for outcome in result.outcomes] == [True, False, True]
    writing = [each.number for each in here.heard.standings if each.state == "writing"]
    assert len({*writing}) == 3
    # None wrote while another one did.
    assert len([n for n, m in itertools.pairwise(writing) if n != m]) == 2
    assert left_behind() == []


def test_what_all_did_is_known_from_what_none_did(pair: Pair, project: Path) -> None:
    with desk(pair, seed=3, at_once=2) as here:
        every = here.best(2, judge="true")
        none = here.best(2, judge="echo no luck; false")
        stop = Stop()

        def hear(standing: Standing) -> None:
            if standing.state == "judging":
                threading.Timer(0.3, stop.ask).start()

        # They can be stopped while they are judged, too.
        with pytest.raises(Ended):
            here.best(2, judge="sleep 101", stop=stop, hear=hear)
        assert not running("sleep", "101")
        assert left_behind() == []
    assert every.passing == 2
    assert headline(every) == "2 of 2 attempts pass; number 1 is the best"
    assert none.passing == 0
    assert headline(none) == "none of 2 attempts passes; number 1 comes nearest"
    assert failures(none).count("no luck") == 2
    assert none.best is not None and not none.best.passes
    assert "does not pass" in done_line(none, none.best)
    said = as_json(none, None)
    assert (said["passes"], said["best"], said["taken"]) == (False, 1, None)
    assert [each["judged"] for each in said["attempts"]] == ["exit status 1"] * 2


def test_the_state_of_the_moment_is_what_they_work_on_and_it_stays(
    pair: Pair, project: Path
) -> None:
    """What is staged, changed, new, deleted, ignored and stashed."""
    git(project, "config", "user.email", "a@example.org")
    git(project, "config", "user.name", "A")
    (project / "check.py").write_text("stashed\n", "utf-8")
    git(project, "stash")
    (project / "gone.txt").write_text("gone\n", "utf-8")
    (project / ".gitignore").write_text("secret/\n", "utf-8")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "second")
    (project / "gone.txt").unlink()
    (project / "staged.txt").write_text("staged\n", "utf-8")
    git(project, "add", "staged.txt")
    (project / "new.txt").write_text("new\n", "utf-8")
    (project / "secret").mkdir()
    (project / "secret" / "key").write_text("x\n", "utf-8")
    hook = project / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {project.parent}/hooked\n", "utf-8")
    hook.chmod(0o755)
    before = state_of(project)
    judge = "cat staged.txt new.txt && ! cat gone.txt && ! ls secret && git status --short"
    with desk(pair, seed=3, at_once=2) as here:
        result = here.best(2, judge=judge)
    assert result.passing == 2, failures(result)
    assert state_of(project) == before
    assert not (project.parent / "hooked").exists()
    assert left_behind() == []


def test_taking_changes_the_files_can_be_undone_and_the_chat_goes_on(
    pair: Pair, project: Path
) -> None:
    app, mended = project / "app.py", APP.replace("return a - b", RIGHT)
    with desk(pair, seed=3, at_once=2) as here:
        result = here.best(2)
        assert result.best is not None
        # Somebody was faster: what they wrote stays.
        app.write_text("mine\n", "utf-8")
        with pytest.raises(NotTaken, match=r"app\.py changed since the attempts began"):
            take(here.talk, result, result.best)
        assert app.read_text("utf-8") == "mine\n"
        assert here.talk.conversation.entries == []
        agent = here.talk.agent
        assert agent is not None and agent.undo() is None
        app.write_text(APP, "utf-8")
        said = take(here.talk, result, result.best)
        assert app.read_text("utf-8") == mended
        task, answer = here.talk.conversation.entries
        assert said == (task, answer)
        assert (task.written, task.message.role) == ("mend it", "user")
        assert PASSES in task.message.text
        assert answer.message.text.startswith("It is mended.")
        assert "app.py +1 -1" in answer.message.text
        undone = agent.undo()
        assert undone is not None and undone.foreign == ()
        agent.restore(undone)
        assert app.read_text("utf-8") == APP
        again = agent.redo()
        assert again is not None
        agent.restore(again)
        assert app.read_text("utf-8") == mended
        here.talk.say("and now?")
        tally = here.talk.turn().answered.done.tally
        # What the attempts have read of the conversation is not read again.
        assert tally.reused_tokens > tally.prompt_tokens // 2


def test_stopping_ends_all_and_leaves_nothing(ggufs: Path, project: Path) -> None:
    """In the middle of commands, of which nothing runs on."""
    sleep = nap(100)
    steps = Steps.of([call("run", command=f"echo $$ >pid; {sleep}")], ["Never said."])
    before = state_of(project)
    stop = Stop()
    with desk(build("edge", steps, ggufs / "sleepers"), mode="auto", at_once=2) as here:
        calling = threading.Event()

        def hear(standing: Standing) -> None:
            if sum(each.state == "calling" for each in here.heard.standings) == 2:
                calling.set()

        def ask() -> None:
            assert calling.wait(60)
            stop.ask()

        asking = threading.Thread(target=ask)
        asking.start()
        with pytest.raises(Ended):
            here.best(2, stop=stop, hear=hear)
        asking.join()
    last = {each.number: each.state for each in here.heard.standings}
    assert last == {1: "stopped", 2: "stopped"}
    assert state_of(project) == before
    assert left_behind() == []
    assert not running(*sleep.split())


def test_an_engine_that_dies_is_started_again_once_for_all(pair: Pair, project: Path) -> None:
    killed: list[int] = []
    with desk(pair, seed=3, at_once=3) as here:

        def hear(standing: Standing) -> None:
            if standing.state == "writing" and not killed:
                assert here.talk.engine.pid is not None
                killed.append(here.talk.engine.pid)
                os.kill(here.talk.engine.pid, signal.SIGKILL)

        result = here.best(3, hear=hear)
        assert here.talk.engine.pid not in (None, *killed)
    assert [outcome.passes for outcome in result.outcomes] == [True, False, True]
    assert all("goes on in a new engine" in sentence for sentence in here.heard.sentences)


def test_greedy_settings_are_warmed_up_and_that_is_said(pair: Pair, project: Path) -> None:
    with desk(pair, seed=3, at_once=3, temperature=0.0) as here:
        result = here.best(3)
    assert [outcome.passes for outcome in result.outcomes] == [True, False, True]
    assert here.heard.sentences == [
        "at temperature 0 all attempts would be the same: they are made at 1"
    ]


def test_attempts_that_change_nothing_offer_nothing(ggufs: Path, project: Path) -> None:
    talker = build("edge", Steps.of(["All is well."]), ggufs / "talkers")
    with desk(talker, at_once=2) as here:
        idle = here.best(2)
        content = here.best(2, judge="true")
    assert idle.best is None and content.best is None
    assert headline(idle) == "none of 2 attempts changed anything"
    assert headline(content) == "nothing to take: true passes although nothing was changed"


def test_in_plan_mode_and_without_tools_there_are_none(pair: Pair, project: Path) -> None:
    with desk(pair, mode="plan") as here, pytest.raises(NoAttempts, match="plan mode"):
        here.best(2)


def test_attempts_that_could_not_even_begin_say_why(pair: Pair, project: Path) -> None:
    before = state_of(project)
    with desk(pair) as here, pytest.raises(NoAttempts, match=r"no answer fits.* --ctx"):
        here.best(2, task="mend it, and well " * 2_000)
    last = {each.number: each for each in here.heard.standings}
    assert [last[n].state for n in (1, 2)] == ["failed"] * 2
    assert all("no answer fits" in each.detail for each in last.values())
    assert state_of(project) == before and left_behind() == []


@pytest.mark.parametrize("is_known", [True, False])
def test_what_goes_wrong_with_one_attempt_is_its_own(
    pair: Pair, project: Path, is_known: bool
) -> None:
    """A place that is taken already, or what nobody thought of."""
    before = state_of(project)
    with desk(pair, seed=3, at_once=2) as here:

        def hear(standing: Standing) -> None:
            if (standing.number, standing.state) != (2, "copying"):
                return
            if not is_known:
                raise RuntimeError("never")
            [place] = [path for path in folders.attempts_path().iterdir() if path.is_dir()]
            (place / "2").touch()

        result = here.best(2, hear=hear)
    good, failed = result.outcomes
    why = "could not be copied" if is_known else "something unexpected"
    assert (good.passes, failed.end, failed.judged) == (True, "failed", None)
    assert why in failed.problem and failures(result) == f"attempt 2: {failed.problem}"
    last = {each.number: each.state for each in here.heard.standings}
    assert last == {1: "done", 2: "failed"}
    assert [place.numbers for place in result.places] == [(1,), (2,)]
    assert overview(result).split("\n")[-1].split()[-1] == "failed"
    assert headline(result) == "1 of 2 attempts passes; number 1 is the best"
    assert state_of(project) == before and left_behind() == []


def test_an_attempt_whose_changes_cannot_be_read_is_not_judged(pair: Pair, project: Path) -> None:
    """Git's folder for its worktree has gone, and with it what there is to compare."""
    with desk(pair, seed=3, at_once=2) as here:

        def hear(standing: Standing) -> None:
            if standing.number == 1 and standing.state == "calling":
                shutil.rmtree(project / ".git" / "worktrees" / "1", ignore_errors=True)

        result = here.best(2, judge="true", hear=hear)
    lost, good = result.outcomes
    assert lost.judged is None and not lost.passes
    assert lost.problem.startswith("its changes could not be read: git could not say")
    assert good.passes and result.best is good
    last = {each.number: each for each in here.heard.standings}
    assert (last[1].state, last[1].detail) == ("done", lost.problem)
    assert left_behind() == []


def test_who_waits_for_a_turn_is_stopped_as_well(pair: Pair, project: Path) -> None:
    stop = Stop()
    with desk(pair, at_once=1) as here:

        def hear(standing: Standing) -> None:
            if standing.state == "copying":
                stop.ask()

        with pytest.raises(Ended):
            here.best(3, stop=stop, hear=hear)
    last = {each.number: each.state for each in here.heard.standings}
    assert last == dict.fromkeys((1, 2, 3), "stopped")
    # What was asked for while files were copied has ended that, and nothing was read.
    assert not any(each.state == "reading" for each in here.heard.standings)
    assert left_behind() == []


@pytest.mark.skipif(os.name == "nt", reason="sends signals")
def test_a_second_ctrl_c_waits_for_nothing_and_leaves_nothing(ggufs: Path, project: Path) -> None:
    sleep = nap(100)
    steps = Steps.of([call("run", command=f"echo begun; {sleep}")], ["Never said."])
    before, stop = state_of(project), Stop()
    # Whoever runs the tests in the background has Ctrl-C ignored.
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with desk(build("edge", steps, ggufs / "sleepers"), mode="auto", at_once=2) as here:

            def hear(standing: Standing) -> None:
                if standing.state == "calling" and not stop.is_asked:
                    os.kill(os.getpid(), signal.SIGINT)
                    until(lambda: stop.is_asked)
                    os.kill(os.getpid(), signal.SIGINT)

            with pytest.raises(KeyboardInterrupt):
                here.best(2, stop=stop, hear=hear)
    finally:
        signal.signal(signal.SIGINT, usual)
    assert state_of(project) == before and left_behind() == []
    assert not running(*sleep.split())


def running(*words: str) -> list[int]:
    """Processes that run a command of these words."""
    return [p.pid for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] == [*words]]

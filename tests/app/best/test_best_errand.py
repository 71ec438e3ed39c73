"""``gemma-local -p TASK --best N``: what is printed and taken, and its exit status."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.app.agent.working import repository
from tests.app.best.contesting import APP, CHECK, PASSES, RIGHT, git, state_of
from tests.app.running import FAST, Command, rest_of
from tests.ggufs import Pair, Steps, build, call
from tests.waiting import PATIENCE

pytestmark = pytest.mark.timeout(240)

BEST = (*FAST, "--ctx", "8192", "--no-save", "-p", "mend it", "--best")
MENDED = APP.replace("return a - b", RIGHT)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = repository(tmp_path / "project", {"app.py": APP, "check.py": CHECK})
    monkeypatch.chdir(root)
    return root


def best(command: Command, pair: Pair, *words: object) -> Any:
    return command.run("--model", pair.target, *BEST, *words)


def left_behind(command: Command) -> list[Path]:
    place = command.home / "XDG_CACHE_HOME" / "gemma-local" / "attempts"
    return list(place.iterdir()) if place.exists() else []


def test_the_diff_goes_to_a_program_and_the_rest_to_the_person(
    command: Command, pair: Pair, root: Path
) -> None:
    before = state_of(root)
    done = best(command, pair, 3, "--seed", 3, "--judge", PASSES)
    assert done.returncode == 7, done.stderr
    assert state_of(root) == before
    assert left_behind(command) == []
    assert done.stdout.startswith("diff --git a/app.py b/app.py\n")
    assert "give --take" in done.stderr
    rows = [line.split() for line in done.stderr.splitlines()]
    table = rows[next(i for i, row in enumerate(rows) if row[:1] == ["attempt"]) :][1:4]
    assert [row[0] for row in table] == ["1", "3", "2"]
    verdicts = [" ".join(row[7:]) for row in table]
    assert verdicts == ["passes", "passes, as 1", "exit status 1"]
    assert "2 of 3 attempts pass; number 1 is the best" in done.stderr
    (root / "patch").write_text(done.stdout, "utf-8")
    git(root, "apply", "patch")
    assert (root / "app.py").read_text("utf-8") == MENDED


@pytest.mark.parametrize("consent", [["--take"], ["--mode", "edits"]])
def test_the_best_is_taken_where_that_is_allowed(
    command: Command, pair: Pair, root: Path, consent: list[str]
) -> None:
    done = best(command, pair, 2, "--seed", 3, "--judge", PASSES, *consent, "--output", "json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert (said["best"], said["taken"], said["passes"], said["judge"]) == (1, 1, True, PASSES)
    assert said["text"] == "It is mended."
    assert [(each["seed"], each["passes"]) for each in said["attempts"]] == [(3, True), (4, False)]
    assert said["attempts"][0]["files"] == [{"path": "app.py", "added": 1, "removed": 1}]
    assert set(said) == {
        *("task", "judge", "best", "passes", "taken", "agree", "text", "diff", "attempts"),
        *("seconds", "tokens_per_second", "problem", "session", "model", "drafter"),
    }
    assert (root / "app.py").read_text("utf-8") == MENDED


def test_what_does_not_pass_is_never_taken(command: Command, pair: Pair, root: Path) -> None:
    done = best(command, pair, 2, "--seed", 3, "--judge", "echo no luck; false", "--take")
    assert done.returncode == 10
    assert done.stdout.startswith("diff --git")
    assert done.stderr.count("  no luck") == 2
    assert "none of 2 attempts passes; number 1 comes nearest" in done.stderr
    assert (root / "app.py").read_text("utf-8") == APP


def test_what_the_person_changed_meanwhile_stays_and_that_is_said(
    command: Command, pair: Pair, root: Path
) -> None:
    # Judged as soon as the person has changed the file.
    judge = f"until [ -e '{root}/go' ]; do sleep 0.02; done"
    words = ("--model", pair.target, *BEST, 2, "--seed", 3, "--judge", judge, "--take")
    with command.start(*words, "--output", "stream-json") as process:
        assert process.stdout is not None
        events = map(json.loads, process.stdout)
        assert any(event.get("state") == "judging" for event in events)
        (root / "app.py").write_text("mine\n", "utf-8")
        (root / "go").touch()
        *_, done = events
        process.wait(PATIENCE)
    assert process.returncode == 1
    assert (done["best"], done["taken"]) == (1, None)
    assert done["problem"].startswith("nothing was taken: app.py changed since")
    assert (root / "app.py").read_text("utf-8") == "mine\n"


def test_where_nothing_has_to_be_done_nothing_is(command: Command, ggufs: Path, root: Path) -> None:
    talker = build("edge", Steps.of(["All is well."]), ggufs / "talkers")
    done = best(command, talker, 2, "--judge", "true", "--take")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "nothing to take: true passes although nothing was changed" in done.stderr
    assert (root / "app.py").read_text("utf-8") == APP


def test_the_stream_tells_how_attempts_stand(command: Command, pair: Pair, root: Path) -> None:
    done = best(command, pair, 2, "--seed", 3, "--judge", "true", "--output", "stream-json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    told = [event for event in events if event["type"] == "attempt"]
    assert {event["number"] for event in told} == {1, 2}
    assert set(told[0]) == {"type", "number", "state", "detail", "tokens", "speed", "calls"}
    states = [event["state"] for event in told if event["number"] == 1]
    assert states[0] == "copying" and states[-2:] == ["judging", "done"]
    assert events[-1]["type"] == "done" and events[-1]["best"] == 1
    # Two at once took more memory, and that was said.
    assert any("2 at once, which takes" in e["text"] for e in events if e["type"] == "notice")


def test_what_needs_consent_is_not_done_in_attempts(
    command: Command, ggufs: Path, root: Path
) -> None:
    """Of commands only the judge's, and what is allowed; nothing outside of the copy."""
    steps = Steps.of(
        [call("read", path="app.py")],
        [
            call("run", command="touch made.txt"),
            call("run", command="python3 check.py || touch x.txt"),
            call("write", path=str(root / "app.py"), content="outside\n"),
        ],
        [call("run", command="python3 check.py")],
        [call("edit", path="app.py", old="return a - b", new=RIGHT)],
        ["Done."],
    )
    pair = build("edge", steps, ggufs / "menders")
    done = best(command, pair, 2, "--judge", "python3 check.py", "--output", "json")
    said = json.loads(done.stdout)
    for each in said["attempts"]:
        assert [file["path"] for file in each["files"]] == ["app.py"]
        assert each["calls"] == 6
    assert sorted(path.name for path in root.iterdir()) == [".git", "app.py", "check.py"]
    assert (root / "app.py").read_text("utf-8") == APP


@pytest.mark.skipif(os.name == "nt", reason="sends signals")
def test_ctrl_c_and_kill_leave_nothing(
    command: Command, pair: Pair, ggufs: Path, root: Path
) -> None:
    steps = Steps.of([call("run", command="echo begun; sleep 100")], ["Never said."])
    model = build("edge", steps, ggufs / "menders").target
    before = state_of(root)
    words = ("--model", model, *BEST, 2, "--judge", "true", "--mode", "auto")
    with command.start(*words, "--output", "stream-json") as process:
        _wait_for_calls(process)
        process.send_signal(signal.SIGINT)
        _, err = rest_of(process)
    assert process.returncode == 130
    assert "nothing was changed" in err
    assert left_behind(command) == []
    assert state_of(root) == before
    with command.start(*words, "--output", "stream-json") as process:
        _wait_for_calls(process)
        process.kill()
        process.wait(30)
    assert left_behind(command) != []
    # The next start, whatever it is for.
    command.run("--model", pair.target, *FAST, "--ctx", "8192", "-p", "x", "--mode", "plan")
    assert left_behind(command) == []
    assert state_of(root) == before


def _wait_for_calls(process: Any) -> None:
    seen = set()
    for line in process.stdout:
        event = json.loads(line)
        if event["type"] == "attempt" and event["state"] == "calling":
            seen.add(event["number"])
        if len(seen) == 2:
            return
    raise AssertionError("it ended before both attempts ran something")


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["1"], "from 2 to 8"),
        (["2", "--mode", "plan"], "plan"),
        (["2", "--raw"], "--raw"),
        (["2"], "--judge"),
    ],
)
def test_wrong_usage_is_named(
    command: Command, pair: Pair, words: list[str], sentence: str
) -> None:
    done = best(command, pair, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr and done.stderr.count("\n") == 1


def test_options_of_attempts_need_attempts(command: Command, pair: Pair) -> None:
    done = command.run("--model", pair.target, "-p", "x", "--take")
    assert done.returncode == 2 and "--best" in done.stderr
    done = command.run("--model", pair.target, "--best", 2, "-p", "")
    assert done.returncode == 2

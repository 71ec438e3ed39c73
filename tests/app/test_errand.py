"""A task done with tools and nobody to ask: what is printed, and with which status it ends."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.app.agent.working import repository
from tests.app.running import FAST, Command, rest_of
from tests.app.test_report import KEYS
from tests.ggufs import Pair, Steps, build, call, script

APP = "def add(a, b):\n    return a - b\n"
ASK = (*FAST, "--temperature", "0", "--ctx", "8192", "-p", "fix it")


@pytest.fixture
def fixer(ggufs: Path) -> Pair:
    """Reads, changes a line and looks whether it is there."""
    steps = Steps.of(
        ["I look.\n", call("read", path="app.py")],
        [
            call("edit", path="app.py", old="a - b", new="a + b"),
            call("run", command="cp app.py copy.py && echo copied"),
        ],
        ["It works."],
    )
    return build("edge", steps, ggufs / "errands")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that it works in, and from where commands are started."""
    root = repository(tmp_path / "project", {"app.py": APP})
    monkeypatch.chdir(root)
    return root


def test_what_is_allowed_is_done(command: Command, fixer: Pair, root: Path) -> None:
    done = command.run("--model", fixer.target, *ASK, "--allow", "read,edit,run:cp")
    assert (done.returncode, done.stdout) == (0, "I look.\nIt works.\n")
    assert done.stderr.splitlines() == [
        "read app.py: 2 lines",
        "edit app.py: +1 -1",
        "run cp app.py copy.py && echo copied: exit status 0",
    ]
    assert (root / "copy.py").read_text("utf-8") == APP.replace("-", "+")


def test_what_is_not_allowed_is_not_done_and_said(
    command: Command, fixer: Pair, root: Path
) -> None:
    done = command.run("--model", fixer.target, *ASK, "--allow", "edit", "--output", "json")
    said = json.loads(done.stdout)
    assert done.returncode == 7
    assert set(said) == KEYS | {"turn", "lacked_consent", "calls"}
    assert (said["text"], said["turn"], said["lacked_consent"]) == ("It works.", "answered", True)
    assert [(each["tool"], each["outcome"]) for each in said["calls"]] == [
        *(("read", "ok"), ("edit", "ok"), ("run", "refused")),
    ]
    assert "--allow" in done.stderr
    assert not (root / "copy.py").exists()


def test_the_stream_tells_of_every_call(command: Command, fixer: Pair, root: Path) -> None:
    done = command.run(
        *("--model", fixer.target, *ASK, "--mode", "plan", "--output", "stream-json")
    )
    # In plan mode nothing lacked consent: it was only to be looked at.
    assert done.returncode == 0
    events: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [event["type"] for event in events]
    told = [k for k in kinds if k not in ("loading", "ready", "prefill", "delta", "stats")]
    refused = ["tool_call", "approval_denied", "tool_result"]
    assert told == [
        *("answer", "tool_call", "tool_result", "answer", *refused, *refused, "answer", "done"),
    ]
    by_kind = {event["type"]: event for event in events}
    assert by_kind["tool_call"]["tool"] == "run"
    assert set(by_kind["tool_call"]) == {"type", "id", "tool", "title", "arguments"}
    result = {"type", "id", "outcome", "summary", "text", "seconds", "diff"}
    assert set(by_kind["tool_result"]) == result
    assert "plan mode" in by_kind["approval_denied"]["reason"]
    answers = [event for event in events if event["type"] == "answer"]
    assert [answer["calls"] for answer in answers] == [1, 2, 0]
    assert (root / "app.py").read_text("utf-8") == APP


def test_diffs_and_output_are_in_the_stream(command: Command, fixer: Pair, root: Path) -> None:
    done = command.run(
        *("--model", fixer.target, *ASK, "--mode", "auto", "--output", "stream-json")
    )
    assert done.returncode == 0
    events = [json.loads(line) for line in done.stdout.splitlines()]
    [diff] = [event["diff"] for event in events if event.get("diff")]
    assert diff == {"path": "app.py", "before": APP, "after": APP.replace("-", "+")}
    assert "copied" in "".join(e["text"] for e in events if e["type"] == "tool_output")


def test_a_circle_and_too_many_calls_have_a_status_each(
    command: Command, ggufs: Path, root: Path
) -> None:
    spec = script(
        ["<|tool_call>", "call:read{path:", '<|"|>', "app.py", '<|"|>', "}", "<tool_call|>"],
        end="<|tool_response>",
    ).then(["<|tool_call>"], after="<tool_response|>", end="call:read{path:")
    model = build("edge", spec, ggufs / "errands").target
    done = command.run("--model", model, *ASK, "--allow", "read")
    assert (done.returncode, done.stderr.count("read app.py")) == (8, 4)
    assert "same calls again" in done.stderr
    done = command.run("--model", model, *ASK, "--allow", "read", "--max-calls", 2)
    assert (done.returncode, done.stderr.count("read app.py")) == (9, 2)
    assert "--max-calls" in done.stderr


@pytest.mark.usefixtures("root")
def test_rules_of_the_settings_hold(command: Command, fixer: Pair) -> None:
    settings = command.home / "XDG_CONFIG_HOME" / "gemma-local" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[agent]\nmode = "auto"\nrules = ["!run: cp *"]\n', encoding="utf-8")
    done = command.run("--model", fixer.target, *ASK, "--allow", "edit,run:cp")
    # The mode there is for when somebody is there; what is forbidden is so everywhere.
    assert done.returncode == 0
    assert "run cp app.py copy.py && echo copied: not allowed" in done.stderr


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--allow", "fly"], 'there is no "fly"'),
        (["--mode", "wild"], "ask, edits, auto or plan"),
        (["--allow", "read", "--raw"], "--raw"),
        (["--max-calls", "3"], "--allow"),
        (["--allow", "read", "--max-calls", "0"], "from 1"),
    ],
)
def test_wrong_usage_is_named(
    command: Command, fixer: Pair, options: list[str], sentence: str
) -> None:
    done = command.run("--model", fixer.target, *ASK, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_home_folder_is_not_worked_in(
    command: Command, fixer: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    command.home.mkdir()
    monkeypatch.chdir(command.home)
    done = command.run("--model", fixer.target, *ASK, "--allow", "edit")
    assert done.returncode == 2
    assert "more than one project" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
@pytest.mark.usefixtures("root")
def test_ctrl_c_ends_a_command_and_the_turn(command: Command, ggufs: Path) -> None:
    steps = Steps.of([call("run", command="echo begun; sleep 100")], ["Never said."])
    model = build("edge", steps, ggufs / "errands").target
    with command.start(
        *("--model", model, *ASK, "--mode", "auto", "--output", "stream-json")
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "begun" in line and "tool_output" in line:
                break
        process.send_signal(signal.SIGINT)
        out, _ = rest_of(process)
    events = [json.loads(line) for line in out.splitlines()]
    assert process.returncode == 130
    assert events[-1]["turn"] == "stopped"
    assert [each["outcome"] for each in events[-1]["calls"]] == ["stopped"]

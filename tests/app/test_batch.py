"""``gemma-local batch``: answers in order, whatever happens on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.app.running import FAST, STORY, Command, child_of, is_running, rest_of
from tests.app.test_report import KEYS
from tests.ggufs import Drafter, Pair, build, script

LONG = script(["So", *(f" part{i}" for i in range(400)), "."])


def questions(folder: Path, *lines: object) -> Path:
    """A file with these lines; texts stand as they are."""
    path = folder / "questions.jsonl"
    written = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("".join(f"{line}\n" for line in written), "utf-8")
    return path


def answers(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def batch(
    command: Command, file: Path, pair: Pair, *more: object, **stdin: str
) -> subprocess.CompletedProcess[str]:
    return command.run("batch", file, "--model", pair.target, *FAST, *more, **stdin)


@pytest.mark.parametrize("parallel", [1, 3])
def test_answers_come_in_order_with_all_keys(
    command: Command, story: Pair, tmp_path: Path, parallel: int
) -> None:
    file = questions(
        tmp_path,
        {"prompt": "one", "id": "a"},
        {"prompt": "two", "max_tokens": 3},
        "",
        {"messages": [{"role": "user", "content": "three"}], "id": 7, "temperature": 0},
        {"prompt": "four", "seed": 5, "think": False, "system": "Be brief."},
    )
    out = tmp_path / "answers.jsonl"
    done = batch(command, file, story, "-o", out, "--parallel", parallel)
    assert (done.returncode, done.stdout) == (0, "")
    found = answers(out)
    assert [(one["line"], one["id"]) for one in found] == [(1, "a"), (2, None), (4, 7), (5, None)]
    assert [one["finish_reason"] for one in found] == ["stop", "length", "stop", "stop"]
    assert [one["text"] for one in found if one["line"] != 2] == [STORY.text] * 3
    assert STORY.text.startswith(found[1]["text"]) and found[1]["emitted_tokens"] == 3
    assert found[3]["seed"] == 5
    assert all(set(one) == KEYS | {"line", "id", "digest"} for one in found)


def test_a_bad_line_is_told_and_the_others_are_answered(
    command: Command, story: Pair, tmp_path: Path
) -> None:
    file = questions(
        tmp_path,
        {"prompt": "one"},
        {"prompt": "two", "colour": "red", "id": "odd"},
        "{",
        {"prompt": "x " * 9000, "id": "long"},
        {"prompt": "five", "max_tokens": 0},
        {"prompt": "six"},
    )
    done = batch(command, file, story, "--ctx", "512", "--parallel", "2")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 11
    assert "6 answered" in done.stderr and "4 with errors" in done.stderr
    assert [one["line"] for one in found] == [1, 2, 3, 4, 5, 6]
    assert [one.get("text") for one in found] == [STORY.text, *[None] * 4, STORY.text]
    assert (found[1]["id"], found[3]["id"]) == ("odd", "long")
    assert "'colour'" in found[1]["error"]
    assert "no JSON" in found[2]["error"]
    assert "the context holds 512" in found[3]["error"]
    assert "max_tokens" in found[4]["error"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ([1], "an object"),
        ({}, "either"),
        ({"prompt": "a", "messages": []}, "either"),
        ({"prompt": " "}, "not empty"),
        ({"messages": []}, "list of"),
        ({"messages": [{"role": "user"}]}, "message 1"),
        ({"messages": [{"role": "robot", "content": "a"}]}, "role of message 1"),
        ({"messages": [{"role": "user", "content": 1}]}, "content of message 1"),
        ({"messages": [{"role": "assistant", "content": "a"}]}, "the user's"),
        ({"prompt": "a", "id": 1.5}, '"id"'),
        ({"prompt": "a", "id": True}, '"id"'),
        ({"prompt": "a", "system": 3}, '"system"'),
        ({"prompt": "a", "temperature": 11}, '"temperature"'),
        ({"prompt": "a", "temperature": True}, '"temperature"'),
        ({"prompt": "a", "seed": -1}, '"seed"'),
        ({"prompt": "a", "think": "on"}, '"think"'),
        ({"prompt": "a", "think": 0}, '"think"'),
    ],
)
def test_what_is_wrong_with_a_line_is_said(line: object, words: str) -> None:
    from gemma_local.app.batch.question import BadQuestion, read_question
    from gemma_local.app.options import BatchOptions

    with pytest.raises(BadQuestion, match=words):
        read_question(json.dumps(line).encode(), BatchOptions())


def test_one_bad_line_may_end_it(command: Command, story: Pair, tmp_path: Path) -> None:
    file = questions(tmp_path, {"prompt": "one"}, "{", {"prompt": "three"})
    out = tmp_path / "answers.jsonl"
    done = batch(command, file, story, "-o", out, "--stop-on-error", "--parallel", "1")
    assert done.returncode == 11
    assert [one["line"] for one in answers(out)] == [1, 2]


def test_questions_may_come_through_a_pipe(command: Command, story: Pair) -> None:
    lines = '{"prompt": "one"}\n{"prompt": "two"}'
    done = command.run("batch", "-", "--model", story.target, *FAST, stdin=lines)
    assert done.returncode == 0
    assert [json.loads(line)["text"] for line in done.stdout.splitlines()] == [STORY.text] * 2


# ---------------------------------------------------------------------------------------- going on


def test_what_is_answered_is_not_asked_again(command: Command, story: Pair, tmp_path: Path) -> None:
    file = questions(tmp_path, *({"prompt": f"number {i}"} for i in range(5)))
    out = tmp_path / "answers.jsonl"
    assert batch(command, file, story, "-o", out).returncode == 0
    whole = out.read_bytes()
    lines = whole.splitlines(keepends=True)
    again = batch(command, file, story, "-o", out)
    assert again.returncode == 0 and "all 5 lines are answered" in again.stderr
    assert out.read_bytes() == whole
    # As a killed run leaves it: the third answer is cut off.
    out.write_bytes(b"".join(lines[:2]) + lines[2][:40])
    rest = batch(command, file, story, "-o", out)
    assert rest.returncode == 0 and "3 answered" in rest.stderr
    assert out.read_bytes().splitlines(keepends=True)[:2] == lines[:2]
    assert [one["line"] for one in answers(out)] == [1, 2, 3, 4, 5]


def test_other_questions_or_another_file_are_not_gone_on_with(
    command: Command, story: Pair, tmp_path: Path
) -> None:
    file = questions(tmp_path, {"prompt": "one"}, {"prompt": "two"})
    out = tmp_path / "answers.jsonl"
    assert batch(command, file, story, "-o", out).returncode == 0
    file = questions(tmp_path, {"prompt": "one"}, {"prompt": "another"})
    other = batch(command, file, story, "-o", out)
    assert other.returncode == 2 and "line 2" in other.stderr and "-o" in other.stderr
    file = questions(tmp_path, {"prompt": "one"})
    fewer = batch(command, file, story, "-o", out)
    assert fewer.returncode == 2 and "more lines" in fewer.stderr
    for text in ("shopping\n", "shopping", '{"id": 1}\n'):
        out.write_text(text)
        foreign = batch(command, file, story, "-o", out)
        assert foreign.returncode == 2 and "no answer of a batch" in foreign.stderr
        assert out.read_text() == text


@pytest.mark.parametrize("file", ["missing.jsonl", "."])
def test_a_file_that_cannot_be_read_is_said(command: Command, tmp_path: Path, file: str) -> None:
    done = command.run("batch", tmp_path / file)
    assert done.returncode == 2 and "cannot be read" in done.stderr


# ------------------------------------------------------------------------------------ disturbances


@pytest.fixture
def slow(tmp_path: Path) -> Pair:
    """A pair that says something long."""
    return build("dense", LONG, tmp_path, drafter=Drafter(wrong_every=2))


def started(command: Command, file: Path, out: Path, pair: Pair) -> Any:
    more = ("--model", pair.target, *FAST, "--parallel", "2", "--draft", "off")
    return command.start("batch", file, "-o", out, *more)


def wait_for_lines(out: Path, count: int) -> None:
    deadline = time.monotonic() + 60
    while not out.exists() or out.read_bytes().count(b"\n") < count:
        assert time.monotonic() < deadline, "no answers come"
        time.sleep(0.01)


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGKILL])
def test_after_the_end_of_everything_the_same_command_goes_on(
    command: Command, slow: Pair, tmp_path: Path, signal_number: int
) -> None:
    count = 12
    file = questions(tmp_path, *({"prompt": f"number {i}", "id": i} for i in range(count)))
    out = tmp_path / "answers.jsonl"
    with started(command, file, out, slow) as process:
        wait_for_lines(out, 2)
        engine = child_of(process.pid)
        process.send_signal(signal_number)
        process.wait(timeout=30)
        if signal_number == signal.SIGINT:
            assert process.returncode == 130
            assert out.read_bytes().endswith(b"\n")
            assert len(answers(out)) < count
    assert engine is not None
    deadline = time.monotonic() + 20
    while is_running(engine):
        assert time.monotonic() < deadline, "the engine stays behind"
        time.sleep(0.02)
    kept = out.read_bytes()
    kept = kept[: kept.rfind(b"\n") + 1]
    done = batch(command, file, slow, "-o", out, "--parallel", "2")
    assert done.returncode == 0, done.stderr
    assert out.read_bytes().startswith(kept)
    found = answers(out)
    assert [one["id"] for one in found] == list(range(count))
    assert {one["text"] for one in found} == {LONG.text}


def test_an_engine_that_dies_is_started_again_once_for_all(
    command: Command, slow: Pair, tmp_path: Path
) -> None:
    file = questions(tmp_path, *({"prompt": f"number {i}"} for i in range(8)))
    out = tmp_path / "answers.jsonl"
    with started(command, file, out, slow) as process:
        wait_for_lines(out, 2)
        engine = child_of(process.pid)
        assert engine is not None
        os.kill(engine, signal.SIGKILL)
        _out, err = rest_of(process)
    assert process.returncode == 0, err
    assert err.count("starting it again") == 1
    assert [one["text"] for one in answers(out)] == [LONG.text] * 8

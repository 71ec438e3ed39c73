"""Ctrl-C, closed pipes, killed engines: what was written stays, and nothing is left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from tests.app.running import FAST, Command, child_of, is_running, rest_of, wait_gone
from tests.ggufs import Pair
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="signals and /proc of Linux")


LONG = ("--seed", "11", "--max-tokens", "600")


def read_until(process: subprocess.Popen[str], kind: str, count: int = 1) -> list[dict[str, Any]]:
    """Events of a stream up to the ``count``-th of a kind."""
    events: list[dict[str, Any]] = []
    assert process.stdout is not None
    for line in process.stdout:
        events.append(json.loads(line))
        if sum(event["type"] == kind for event in events) == count:
            return events
    raise AssertionError(f"no {kind} in {events}")


def pid_in(events: list[dict[str, Any]]) -> int:
    """The engine's process."""
    return int(next(event["pid"] for event in events if event["type"] == "ready"))


def stream(pair: Pair, *more: object) -> list[str]:
    return [
        *("--model", str(pair.target), "-p", "x", *FAST, "--output", "stream-json"),
        *map(str, more),
    ]


def test_ctrl_c_prints_what_there_is(command: Command, endless: Pair) -> None:
    with command.start("--model", endless.target, "-p", "x", *FAST) as process:
        assert process.stdout is not None
        begin = process.stdout.read(40)
        pid = child_of(process.pid)
        assert pid is not None
        process.send_signal(signal.SIGINT)
        rest, complaints = rest_of(process)
    assert process.returncode == 130
    assert begin.startswith("On ")
    assert rest.endswith("\n")
    assert complaints == ""
    assert not is_running(pid)


def test_ctrl_c_in_json_still_gives_the_object(command: Command, endless: Pair) -> None:
    with command.start(*stream(endless)) as process:
        events = read_until(process, "delta", 3)
        process.send_signal(signal.SIGINT)
        rest, _ = rest_of(process)
    events += map(json.loads, rest.splitlines())
    last = events[-1]
    assert process.returncode == 130
    assert (last["type"], last["finish_reason"]) == ("done", "cancelled")
    assert last["text"] == "".join(event.get("text", "") for event in events[:-1])
    assert last["emitted_tokens"] > 0


def test_a_second_ctrl_c_ends_at_once_even_if_the_engine_hangs(
    command: Command, endless: Pair
) -> None:
    with command.start(*stream(endless)) as process:
        engine = pid_in(read_until(process, "delta"))
        os.kill(engine, signal.SIGSTOP)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert process.poll() is None

        def press_again() -> bool:
            # One that comes before the first was seen is part of it, so there may be a third.
            process.send_signal(signal.SIGINT)
            return process.poll() is not None

        until(press_again, every=0.3)
    assert process.returncode == 130
    wait_gone(engine)


def test_sigterm_ends_the_engine_too(command: Command, endless: Pair) -> None:
    with command.start(*stream(endless)) as process:
        pid = pid_in(read_until(process, "ready"))
        process.terminate()
        process.communicate(timeout=PATIENCE)
        wait_gone(pid)
    assert process.returncode == -signal.SIGTERM


def test_kill_ends_the_engine_too(command: Command, endless: Pair) -> None:
    with command.start(*stream(endless)) as process:
        pid = pid_in(read_until(process, "delta"))
        process.kill()
        process.communicate(timeout=PATIENCE)
        wait_gone(pid)


@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
def test_a_closed_pipe_is_quiet(command: Command, endless: Pair, form: str) -> None:
    limit = ("--max-tokens", "300") if form == "json" else ()
    words = ("--model", endless.target, "-p", "x", *FAST, "--output", form, *limit)
    with command.start(*words) as process:
        assert process.stdout is not None
        if form != "json":
            process.stdout.read(1)
        pid = child_of(process.pid)
        process.stdout.close()
        assert process.stderr is not None
        complaints = process.stderr.read()
        assert process.wait(timeout=PATIENCE) == 0
    assert complaints == ""
    assert pid is None or not is_running(pid)


@pytest.fixture(scope="module")
def undisturbed(endless: Pair, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What LONG gives when nothing happens."""
    command = Command(tmp_path_factory.mktemp("undisturbed"))
    ask = ("--model", endless.target, "-p", "x", *FAST, *LONG, "--draft", "off")
    return str(command.json(*ask)["text"])


@pytest.mark.parametrize("moment", ["prefill", "delta"])
def test_a_killed_engine_is_replaced_and_the_answer_goes_on(
    command: Command, endless: Pair, undisturbed: str, moment: str
) -> None:
    with command.start(*stream(endless, *LONG)) as process:
        events = read_until(process, moment)
        os.kill(pid_in(events), signal.SIGKILL)
        rest, complaints = rest_of(process)
    events += map(json.loads, rest.splitlines())
    assert process.returncode == 0
    kinds = [event["type"] for event in events]
    assert kinds.count("restart") == 1
    assert "it was killed" in complaints
    assert complaints.count("\n") == 1
    last = events[-1]
    assert (last["type"], last["finish_reason"]) == ("done", "length")
    assert last["text"] == undisturbed
    assert "".join(event.get("text", "") for event in events[:-1]) == undisturbed
    assert last["emitted_tokens"] == 600


def test_an_engine_that_dies_twice_is_given_up(command: Command, endless: Pair) -> None:
    with command.start(*stream(endless)) as process:
        events = read_until(process, "delta")
        os.kill(pid_in(events), signal.SIGKILL)
        read_until(process, "restart")
        read_until(process, "delta")
        second = child_of(process.pid)
        assert second is not None
        os.kill(second, signal.SIGKILL)
        rest, complaints = rest_of(process)
    last = json.loads(rest.splitlines()[-1])
    assert process.returncode == 4
    assert (last["type"], last["exit_code"]) == ("error", 4)
    assert last["error"] in complaints
    assert "Traceback" not in complaints

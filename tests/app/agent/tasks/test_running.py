"""Tasks with commands and searches: what they bring, how much of it, and how they end."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import psutil
import pytest

from gemma_local.app.agent.budget import Budget
from gemma_local.app.agent.events import ToolOutput
from gemma_local.app.stop import Stop
from tests.app.agent.tasks.conftest import Task
from tests.ggufs import call

DONE = ["It is done."]
APP = {"app.py": "def add(a, b):\n    return a - b\n"}

pytestmark = pytest.mark.skipif(os.name == "nt", reason="commands of a POSIX shell")


def test_binary_files_are_refused_kindly(task: Task) -> None:
    steps = ([call("read", path="logo.png")], [call("read", path="data")], DONE)
    with task(APP, *steps, undoes=False) as work:
        (work.root / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
        (work.root / "data").write_bytes(b"abc\0def")
        work.do("what is in them?")
        assert "is an image" in work.results[0].text
        assert "is binary" in work.results[1].text


@pytest.mark.usefixtures("unmeasured")
def test_huge_output_comes_as_its_two_ends(task: Task) -> None:
    loop = f"{sys.executable} -c \"for i in range(200000): print('line', i)\""
    steps = ([call("run", command=loop)], DONE)
    with task(APP, *steps) as work:
        work.do("print it")
        [result] = work.results
        assert len(result.text) <= Budget(8_192).result_characters
        assert "line 0\n" in result.text
        assert "line 199999" in result.text
        assert "left out" in result.text
        # All of it was kept, for the model to look into.
        saved = Path(result.text.rpartition("output: ")[2].strip("]\n"))
        assert saved.read_text("utf-8").count("\n") == 200_000


def test_signs_that_are_a_token_each_are_cut_by_tokens(task: Task) -> None:
    # No character of these is in the vocabulary: each takes three tokens.
    with task({"sun.txt": "\u65e5" * 1500}, [call("read", path="sun.txt")], DONE) as work:
        work.do("read it")
        tally = work.tallies[1]
        assert tally.prefilled_tokens < Budget(8_192).result_tokens * 1.5


def test_a_command_that_takes_too_long_ends_with_all_that_it_started(task: Task) -> None:
    nap = 298.0 + time.time() % 1
    command = f"(setsid sleep {nap} &) ; sleep {nap} & sleep {nap}"
    steps = ([call("run", command=command, timeout=1)], DONE)
    with task(APP, *steps) as work:
        turned = work.do("wait")
        assert turned.calls[0].outcome == "failed"
        assert "Not finished after 1 s" in work.results[0].text
        assert not _naps(nap)


def test_a_command_is_stopped_in_the_middle(task: Task) -> None:
    nap = 297.0 + time.time() % 1
    stop = Stop()
    steps = (
        [call("run", command=f"echo begun; sleep {nap}"), call("run", command="echo second")],
        ["I see."],
    )
    with task(APP, *steps) as work:

        def stop_when_begun(heard: object) -> None:
            if isinstance(heard, ToolOutput) and "begun" in work.heard.output:
                stop.ask()

        work.heard.does = stop_when_begun
        turned = work.do("wait", stop)
        assert (turned.end, [done.outcome for done in turned.calls]) == ("stopped", ["stopped"])
        assert not _naps(nap)
        assert "begun" in work.results[0].text
        # The second was never run, and the model is told so when it goes on.
        again = work.agent.turn()
        assert (again.end, again.calls) == ("answered", [])
        assert [result.text for result in work.results][1] == (
            "It was interrupted and brought no result."
        )
        assert work.heard.answer.endswith("I see.")


def test_a_folder_that_was_gone_into_is_kept(task: Task) -> None:
    steps = (
        [call("run", command="cd src && pwd")],
        [call("run", command="ls")],
        DONE,
    )
    with task(APP | {"src/one.py": "a = 1\n"}, *steps) as work:
        work.do("look into src")
        assert "the folder is now src" in work.results[0].text
        assert "one.py" in work.results[1].text


def test_what_a_command_changed_is_told(task: Task) -> None:
    steps = ([call("run", command="echo 'a = 2' > a.py; echo 1 > b.txt")], DONE)
    with task({"a.py": "a = 1\n"}, *steps) as work:
        work.do("write it with the shell")
        assert "[changed: a.py; new: b.txt]" in work.results[0].text


def test_commands_have_no_secrets_and_no_input(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_TOKEN", "abcd1234")
    with task(APP, [call("run", command="env; cat; read line || echo none")], DONE) as work:
        work.do("look at the environment")
        assert "abcd1234" not in work.results[0].text
        assert "none" in work.results[0].text


def test_looking_around(task: Task) -> None:
    files = {"src/a.py": "A = 1\n", "src/b.py": "B = A\n", "docs/x.md": "none\n"}
    steps = (
        [call("list"), call("read", path="src")],
        [call("search", pattern="A", glob="*.py")],
        [call("read", path="src/c.py")],
        DONE,
    )
    with task(files, *steps) as work:
        turned = work.do("look around")
        assert "src/" in work.results[0].text
        assert "a.py" in work.results[1].text
        assert "src/b.py:1: B = A" in work.results[2].text
        assert turned.calls[3].outcome == "failed"


def _naps(seconds: float) -> list[int]:
    """Processes that sleep for just so long."""
    return [
        process.pid
        for process in psutil.process_iter(["cmdline", "status"])
        if process.info["status"] != psutil.STATUS_ZOMBIE
        and str(seconds) in (process.info["cmdline"] or [])
    ]

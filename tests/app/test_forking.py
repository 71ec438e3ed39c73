"""What is forked does what is started, and ends as it does."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import psutil
import pytest

from gemma_local.engine.client import Engine
from gemma_local.engine.messages import Load
from tests.app import forking
from tests.app.running import Command
from tests.ggufs import Pair
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.skipif(not forking.is_possible(), reason="nothing is forked here")


def both(
    command: Command, *words: object, stdin: bytes = b"", **variables: str
) -> tuple[subprocess.CompletedProcess[bytes], subprocess.CompletedProcess[bytes]]:
    """One that is forked, and one that is started."""
    environment = command.environment(**variables)
    started = subprocess.run(
        command.words(*words), input=stdin, capture_output=True, env=environment, check=False
    )
    return forking.run([*map(str, words)], environment, stdin, PATIENCE), started


@pytest.mark.parametrize(
    "words", [("paths",), ("--version",), ("--nonsense",), ("sessions",), ("--model", "nowhere")]
)
def test_they_say_the_same(command: Command, words: tuple[str, ...]) -> None:
    forked, started = both(command, *words, stdin=b"hello")
    assert (forked.returncode, forked.stdout, forked.stderr) == (
        started.returncode,
        started.stdout,
        started.stderr,
    )


def test_they_answer_the_same(command: Command, story: Pair) -> None:
    words = ("--model", story.target, "--no-save", "--threads", 1)
    forked, started = both(command, *words, stdin="tell me, Größe".encode())
    assert (forked.returncode, forked.stdout) == (started.returncode, started.stdout)
    assert b"word49" in forked.stdout


def test_each_has_its_own_environment_and_folder(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = [both(command, "paths", XDG_DATA_HOME=str(tmp_path / name))[0].stdout for name in "ab"]
    assert str(tmp_path / "a").encode() in found[0]
    assert str(tmp_path / "b").encode() in found[1]
    assert os.environ.get("XDG_DATA_HOME") != str(tmp_path / "b")


def test_one_that_takes_too_long_is_ended(command: Command) -> None:
    environment = command.environment()
    with pytest.raises(subprocess.TimeoutExpired):
        forking.run(["paths"], environment, b"", timeout=0.0)


def test_what_python_reads_as_it_starts_needs_one_that_is_started(command: Command) -> None:
    server = forking.app_server()
    assert server.suits(command.environment())
    assert not server.suits(command.environment(LC_ALL="tr_TR.UTF-8"))
    assert not server.suits(command.environment(OMP_NUM_THREADS="3"))


def test_an_engine_is_killed_and_ends_as_any_other(tmp_path: Path, story: Pair) -> None:
    engine = Engine(tmp_path / "engine.log")
    engine.start(Load(str(story.target), context=512, threads=1))
    process: object = engine._process
    pid = engine.pid
    assert isinstance(process, forking.Forked) and pid is not None
    assert os.getsid(pid) == pid
    psutil.Process(pid).kill()
    until(lambda: not engine.is_alive)
    assert process.returncode == -signal.SIGKILL
    # Of one that goes by itself nothing is left either.
    engine.restart()
    last = engine.pid
    assert last is not None
    engine.close()
    assert not psutil.pid_exists(last)

"""An engine that is begun before anybody knows what it will load."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from gemma_local.engine import client
from gemma_local.engine.client import Engine, EngineDied
from gemma_local.engine.hardware.devices import ask_devices
from gemma_local.engine.messages import Load
from tests.engine.test_library import pretend_version
from tests.ggufs import Pair, build, script
from tests.waiting import until


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(tmp_path / "engine.log") as engine:
        yield engine


@pytest.fixture
def pair(ggufs: Path) -> Pair:
    return build("dense", script(["Once", " more", "."]), ggufs)


def load(pair: Pair) -> Load:
    return Load(str(pair.target), context=256, threads=1)


def run_instead(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """Let the engine's process be another one."""
    popen = subprocess.Popen
    monkeypatch.setattr(
        subprocess, "Popen", lambda _words, **more: popen([sys.executable, "-c", program], **more)
    )


def test_it_names_the_devices_and_then_loads(engine: Engine, pair: Pair) -> None:
    engine.begin()
    found, begun = engine.devices(), engine.pid
    asked = ask_devices()
    assert [replace(device, free=0) for device in found.devices] == [
        replace(device, free=0) for device in asked.devices
    ]
    assert (found.backends, found.system_info) == (asked.backends, asked.system_info)
    was_begun = engine.is_begun
    engine.start(load(pair))
    assert (engine.pid, was_begun, engine.is_begun) == (begun, True, False)
    # The next pair has a process of its own again.
    engine.start(load(pair))
    assert engine.pid != begun


def test_llama_cpp_s_log_goes_on_after_the_devices(engine: Engine, pair: Pair) -> None:
    engine.begin()
    engine.devices()
    engine.start(load(pair))
    assert "llama_model_loader" in engine.log_path.read_text()


def test_one_that_died_meanwhile_is_replaced(engine: Engine, pair: Pair) -> None:
    engine.begin()
    begun = engine.pid
    assert begun is not None
    psutil.Process(begun).kill()
    until(lambda: not engine.is_alive)
    assert not engine.is_begun
    engine.start(load(pair))
    assert engine.pid != begun


@pytest.mark.skipif(os.name == "nt", reason="signals do not end processes there")
@pytest.mark.parametrize(
    ("name", "words"), [("SIGILL", "processor lacks"), ("SIGSEGV", "driver crashed")]
)
def test_a_driver_that_kills_it_is_a_sentence(
    engine: Engine, pair: Pair, monkeypatch: pytest.MonkeyPatch, name: str, words: str
) -> None:
    number = int(signal.Signals[name])
    with monkeypatch.context() as patch:
        run_instead(patch, f"import os, sys; sys.stdin.readline(); os.kill(os.getpid(), {number})")
        engine.begin()
        found = engine.devices()
    assert words in found.problem and "asked for its devices" in found.problem
    assert found.is_illegal_instruction is (name == "SIGILL")
    engine.start(load(pair))


def test_a_driver_that_hangs_is_not_waited_for(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_instead(monkeypatch, "import time; time.sleep(600)")
    engine.begin()
    assert "within 0.2 s" in engine.devices(timeout=0.2).problem
    assert not engine.is_alive


def test_an_answer_that_is_none_is_a_sentence(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = (
        "import json, sys\n"
        "question = json.loads(sys.stdin.readline())\n"
        "answer = {'type': 'Listed', 'id': question['id'], 'devices': '[]'}\n"
        "print(json.dumps(answer), flush=True)\n"
        "sys.stdin.readline()\n"
    )
    run_instead(monkeypatch, program)
    engine.begin()
    assert "did not name its devices" in engine.devices().problem


def test_one_that_says_no_more_and_does_not_end_is_a_sentence(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_ENDING", 0.05)
    run_instead(
        monkeypatch, "import os, sys, time; sys.stdin.readline(); os.close(1); time.sleep(600)"
    )
    engine.begin()
    assert "stopped answering" in engine.devices().problem


def test_another_release_is_named(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend_version(tmp_path, "0.2.90")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    engine.begin()
    assert "llama-cpp-python 0.2.90 is installed" in engine.devices().problem


def test_without_a_process_there_is_a_sentence(engine: Engine) -> None:
    assert "not running" in engine.devices().problem


def test_one_that_cannot_be_begun_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    engine = Engine(tmp_path / "file" / "engine.log")
    with pytest.raises(EngineDied, match="cannot be started"):
        engine.begin()
    assert not engine.is_begun

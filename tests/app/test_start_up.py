"""What starting costs: judged by what is loaded, which does not depend on the machine."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from gemma_local.app import cli, folders
from tests.app.running import Command
from tests.waiting import PATIENCE

HEAVY = (
    "llama_cpp",
    "numpy",
    "textual",
    "jinja2",
    "pydantic",
    "platformdirs",
    "importlib.metadata",
)
LISTING = """
import sys
from gemma_local.app.cli import main
code = main({words!r})
print()
print(code, *sorted(name for name in {heavy!r} if name in sys.modules))
"""


@pytest.mark.parametrize(
    "words", [["--help"], ["bench", "--help"], ["verify", "-h"], ["--draft", "x"]]
)
def test_help_and_complaints_load_nothing_heavy(command: Command, words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LISTING.format(words=words, heavy=HEAVY)],
        capture_output=True,
        text=True,
        env=command.environment(),
        check=True,
    )
    code = "2" if "x" in words else "0"
    # A complaint looks up how to end, which loads the engine's client and nothing more.
    assert done.stdout.splitlines()[-1] == code


def test_the_parts_of_a_prompt_load_no_screen_and_no_engine(command: Command) -> None:
    parts = "one_shot, chat, bench, verify, launch, output"
    code = f"import sys; from gemma_local.app import {parts}; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=command.environment(),
        check=True,
    )
    loaded = set(done.stdout.split())
    assert not loaded & {"llama_cpp", "numpy", "textual", "jinja2", "pydantic"}


def test_help_shows_options_commands_and_exit_codes(command: Command) -> None:
    done = command.run("--help")
    assert (done.returncode, done.stderr) == (0, "")
    for part in ("--lenience", "bench", "verify", "examples:", "exit status:", "130"):
        assert part in done.stdout


def test_something_unexpected_is_a_sentence_and_a_log(
    command: Command, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_words: list[str]) -> int:
        raise RuntimeError("out of cheese")

    log = command.home / "engine.log"
    log.parent.mkdir()
    monkeypatch.setattr(cli, "_run", fail)
    monkeypatch.setattr(folders, "log_path", lambda: log)
    assert cli.main(["--output", "json"]) == 1
    out, err = capsys.readouterr()
    assert err.count("\n") == 1
    assert "out of cheese" in err
    assert str(log) in err
    assert json.loads(out)["exit_code"] == 1
    assert "Traceback" in log.read_text()


def test_help_into_a_closed_pipe_is_quiet(command: Command) -> None:
    with command.start("--help") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=PATIENCE) == 0


def test_version(command: Command) -> None:
    done = command.run("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("gemma-local")


@pytest.mark.parametrize("arguments", [(), ("-p", "hi"), ("--system", "be"), ("-p", "")])
def test_without_a_model_it_says_what_to_do_in_three_lines(
    command: Command, arguments: tuple[str, ...]
) -> None:
    done = command.run(*arguments)
    assert (done.returncode, done.stdout) == (3, "")
    lines = done.stderr.splitlines()
    assert len(lines) == 3
    assert "gemma-local models get " in lines[0]
    assert "--model" in lines[1]
    assert "--model pocket" in lines[2]

"""The installed program in an empty home: what works at once, and what is left when it goes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.packaging.conftest import Built
from tests.packaging.environment import Environment

if TYPE_CHECKING:
    # Without a pty, as on Windows, it cannot even be imported.
    from tests.app.tui.end_to_end.screen import Screen

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="other folders there"),
    pytest.mark.timeout(600),
]

Start = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def nothing_else(installed: Environment, home: Path) -> dict[str, str]:
    """The environment of a person with nothing but a home."""
    return {"HOME": str(home), "PATH": f"{installed.bin}{os.pathsep}/usr/bin:/bin"}


@pytest.fixture
def start(installed: Environment, home: Path, nothing_else: dict[str, str]) -> Start:
    """Runs the command to its end."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(installed.bin / "gemma-local"), *words],
            env=nothing_else,
            cwd=home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def terminal(
    installed: Environment, home: Path, nothing_else: dict[str, str], **variables: str
) -> Screen:
    """The app on a terminal of its own."""
    from tests.app.tui.end_to_end.screen import Screen

    words = [str(installed.bin / "gemma-local")]
    return Screen(words, {**nothing_else, "TERM": "xterm-256color", **variables}, folder=home)


def test_it_says_its_version(start: Start, built: Built) -> None:
    assert start("--version").stdout == f"gemma-local {built.wheel.name.split('-')[1]}\n"


def test_its_screen_opens_and_closes(
    installed: Environment, home: Path, nothing_else: dict[str, str]
) -> None:
    # Whoever has a proxy may have a network.
    with terminal(installed, home, nothing_else, https_proxy="http://127.0.0.1:9") as screen:
        # There is no model yet: it offers some.
        screen.wait_for("Quit")
        screen.keys("q")
        assert screen.end() == 0


def test_without_a_network_the_guide_that_comes_along_answers_on_the_screen(
    installed: Environment, home: Path, nothing_else: dict[str, str]
) -> None:
    from tests.app.tui.end_to_end.screen import CTRL_D, ENTER

    with terminal(installed, home, nothing_else, HF_HUB_OFFLINE="1") as screen:
        screen.wait_for("as HF_HUB_OFFLINE says")
        screen.keys("What is acceptance?", ENTER)
        screen.wait_for("tokens per pass")
        screen.keys(CTRL_D)
        assert screen.end() == 0


def test_doctor_looks_at_the_machine(start: Start) -> None:
    done = start("doctor", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ok"] is True


def test_it_prints_completions(start: Start) -> None:
    assert "gemma-local" in start("completions", "fish").stdout


def test_the_model_that_comes_along_answers(start: Start) -> None:
    done = start("--model", "pocket", "-p", "Hello", "--max-tokens", "8")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_everything_that_it_leaves_is_in_the_folders_that_it_names(
    start: Start, home: Path, built: Built, tmp_path: Path
) -> None:
    start("config", "init")
    start("sessions", "list")
    start("doctor")
    named = [Path(place["path"]) for place in json.loads(start("paths", "--json").stdout).values()]
    environment = Environment(tmp_path / "venv")
    environment.install(built.wheel)
    environment.uninstall("gemma-local")
    left = [file for file in environment.bin.parent.rglob("*gemma*") if file.is_file()]
    assert left == []
    written = [file for file in home.rglob("*") if file.is_file()]
    assert home / ".config" / "gemma-local" / "config.toml" in written
    assert [
        file for file in written if not any(file.is_relative_to(place) for place in named)
    ] == []

"""The small guide on a terminal: at once without a network, and at work on files."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from gemma_local.models import pocket
from tests.app.running import FAST
from tests.app.tui.end_to_end.screen import CTRL_D, ENTER, Screen
from tests.app.tui.end_to_end.terminals import Terminals

GREEDY = ("--temperature", 0, *FAST)
SETTINGS = 'port = 8080\nhost = "local"\nretries = 3\n'
TEST = """\
import tomllib

with open("settings.toml", "rb") as file:
    settings = tomllib.load(file)


def test_port():
    assert settings["port"] == 9000


def test_host():
    assert settings["host"] == "local"


def test_retries():
    assert settings["retries"] == 3
"""


def opened(terminals: Terminals, *options: object, **variables: str) -> Screen:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = terminals.environment({"PATH": path, **variables})
    words = terminals.command.words(*options)
    return Screen(words, environment, size=(100, 40), folder=terminals.folder)


def allow(screen: Screen, question: str) -> None:
    screen.wait_for(question)
    # What is typed as the question appears is not meant for it.
    until = time.monotonic() + 2.0
    screen.until(lambda: time.monotonic() > until)
    screen.keys("y")


def test_without_network_and_model_it_opens_on_the_guide(terminals: Terminals) -> None:
    with opened(terminals, *GREEDY, HF_HUB_OFFLINE="1") as screen:
        screen.wait_for("as HF_HUB_OFFLINE says")
        screen.wait_for("the small guide that comes with gemma-local")
        screen.keys("What is acceptance?", ENTER)
        screen.wait_for("tokens per pass")
        # Nobody takes it for Gemma 4.
        assert pocket.LABEL in screen.text.splitlines()[-1]
        assert "accept" in terminals.saved[-1].message.text
        screen.keys(CTRL_D)
        assert screen.end() == 0


@pytest.mark.usefixtures("unmeasured")
def test_it_lists_reads_edits_runs_the_tests_and_reports(terminals: Terminals) -> None:
    # By this a folder is known as a project.
    (terminals.folder / ".git").mkdir()
    settings = terminals.folder / "settings.toml"
    settings.write_text(SETTINGS)
    (terminals.folder / "test_settings.py").write_text(TEST)

    def done() -> list[str]:
        return [call.name for entry in terminals.saved for call in entry.message.calls]

    def reported() -> str:
        saved = terminals.saved
        last = saved[-1].message if saved else None
        return last.text if last is not None and last.role == "assistant" else ""

    with opened(terminals, "--model", "pocket", *GREEDY) as screen:
        screen.wait_for("works on these files")
        screen.keys("List the files.", ENTER)
        screen.until(lambda: "test_settings.py" in reported())
        screen.keys("Read settings.toml.", ENTER)
        screen.until(lambda: "port" in reported())
        assert done() == ["list", "read"]
        screen.keys("Set port to 9000 in settings.toml.", ENTER)
        allow(screen, "Change settings.toml?")
        screen.until(lambda: "9000" in reported())
        assert settings.read_text() == SETTINGS.replace("8080", "9000")
        screen.keys("Run the tests.", ENTER)
        allow(screen, "Run this?")
        screen.until(lambda: "passed" in reported())
        assert done() == ["list", "read", "read", "edit", "run"]
        screen.keys(CTRL_D)
        assert screen.end() == 0

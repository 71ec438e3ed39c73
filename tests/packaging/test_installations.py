"""The trial of the ways to install: what it asks of an installation, and what it says is wrong.

The ways themselves need a package index: `packaging/installations.py` goes them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from tests.packaging.conftest import Script
from tests.packaging.environment import Environment

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="its terminals are those of POSIX"),
    pytest.mark.timeout(600),
]


@pytest.fixture
def installations(script: Script) -> ModuleType:
    return script("installations")


def test_an_installation_is_used_and_leaves_what_it_says(
    installations: ModuleType, installed: Environment, tmp_path: Path
) -> None:
    log: list[str] = []
    home = installations.Home(tmp_path / "home", log.append)
    kept = installations.use(home, installed.bin / "gemma-local")
    assert [line.strip().split("  ")[0] for line in log] == [
        "--version",
        "doctor",
        "paths",
        '-p "How do I quit?"',
        "starts on a terminal, ends",
    ]
    assert "/exit" in log[3]
    assert any(folder.exists() for folder in kept)
    assert installations.left_behind(home.folder, kept) == []
    elsewhere = home.folder / ".local" / "bin" / "gemma-local"
    elsewhere.parent.mkdir(parents=True)
    elsewhere.symlink_to("nowhere")
    assert installations.left_behind(home.folder, kept) == [elsewhere]


def test_what_fails_says_its_last_lines(installations: ModuleType, tmp_path: Path) -> None:
    home = installations.Home(tmp_path / "home", lambda _: None)
    with pytest.raises(installations.Failed, match=r"looks: exit code 2\n.*No such file"):
        home.run("looks", "ls", "nowhere")


def test_what_does_not_start_on_a_terminal_is_noticed(
    installations: ModuleType, tmp_path: Path
) -> None:
    home = installations.Home(tmp_path / "home", lambda _: None)
    with pytest.raises(installations.Failed, match="on a terminal"):
        home.on_a_terminal("ls", "nowhere")


def test_one_way_that_fails_does_not_stop_the_others(installations: ModuleType) -> None:
    def fails() -> None:
        """A way that fails."""
        raise installations.Failed("why")

    def works() -> None:
        """A way that works."""

    log: list[str] = []
    ways = SimpleNamespace(one=fails, two=works)
    assert installations.tried(ways, ["one", "two"], log.append) == {"one": False, "two": True}
    assert log == ["-- A way that fails", "   NOT AS IT SHOULD BE: why", "-- A way that works"]

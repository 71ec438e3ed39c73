"""Fixtures for tests of the command line: a folder for GGUF files, a home of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gemma_local.app import folders
from tests.app.forking import engines_forked
from tests.app.running import STORY, Command
from tests.ggufs import Drafter, Pair, build, script


@pytest.fixture(autouse=True)
def engines() -> Iterator[None]:
    with engines_forked():
        yield


@pytest.fixture(scope="session")
def ggufs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ggufs")


@pytest.fixture(scope="session")
def story(ggufs: Path) -> Pair:
    """Says the same fifty words whatever it is asked; the drafter errs after every third."""
    return build("dense", STORY, ggufs / "story", drafter=Drafter(wrong_every=3))


@pytest.fixture(scope="session")
def endless(ggufs: Path) -> Pair:
    """Never ends and, at temperature 1, never repeats itself: it fills the context."""
    choices = [{f" red{i}": 0.5, f" green{i}": 0.3, f" blue{i}": 0.2} for i in range(8)]
    spec = script(["On", *choices], loop_to=1)
    return build("dense", spec, ggufs / "endless")


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """gemma-local as a process, with its log and records in a folder of this test."""
    return Command(tmp_path / "home")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home for this process: its folders, and a working folder ``work`` in it."""
    home = tmp_path / "home"
    work = home / "work"
    work.mkdir(parents=True)
    # An empty folder would be a project.
    (work / "letter.txt").touch()
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(home / name))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("GEMMA_LOCAL_MODEL", raising=False)
    monkeypatch.chdir(work)
    folders.log_path.cache_clear()
    yield home
    folders.log_path.cache_clear()

"""The engine that starts while it is found out what to load."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from gemma_local.app import early_engine, folders
from gemma_local.app.launch import prepare
from gemma_local.app.options import PairOptions
from gemma_local.engine.client import Engine, EngineDied
from gemma_local.models.errors import BadModelFile
from tests.ggufs import Pair
from tests.waiting import until


@pytest.fixture(autouse=True)
def nobody_waits(home: Path) -> Iterator[None]:
    """No engine; only what engines are forked from, which looks like one and stays."""
    early_engine.begin()
    early_engine.end()
    yield
    early_engine.end()


def engines() -> set[int]:
    """Processes of engines that this one has started and that still run."""
    found = set()
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if "gemma_local.engine.host" in child.cmdline():
                found.add(child.pid)
    return found


def test_the_one_that_was_begun_loads_the_pair(home: Path, story: Pair) -> None:
    before = engines()
    early_engine.begin()
    early_engine.begin()
    [begun] = engines() - before
    launch = prepare(PairOptions(model=str(story.target), threads=1), longest_draft=3)
    assert launch.machine is not None and launch.machine.problems == ()
    with launch.running() as (engine, _ready):
        assert engine.pid == begun
    # Who opens it once more has another one.
    with launch.running() as (engine, _ready):
        assert engine.pid != begun
    assert engines() <= before


def test_whoever_takes_one_without_having_begun_it_has_one_to_start(home: Path) -> None:
    engine = early_engine.take()
    assert engine.pid is None and engine.log_path == folders.log_path()


def test_one_whose_log_is_elsewhere_by_now_is_not_taken(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = early_engine.begin()
    assert begun is not None
    with monkeypatch.context() as patch:
        patch.setattr(folders, "log_path", lambda: home / "another" / "engine.log")
        assert early_engine.take() is not begun
    assert not begun.is_alive


def test_one_that_died_is_not_taken(home: Path) -> None:
    begun = early_engine.begin()
    assert begun is not None and begun.pid is not None
    psutil.Process(begun.pid).kill()
    until(lambda: not begun.is_alive)
    assert early_engine.take() is not begun


def test_what_cannot_be_loaded_ends_it(home: Path) -> None:
    before = engines()
    (home / "model.gguf").write_text("no model")
    with pytest.raises(BadModelFile):
        prepare(PairOptions(model=str(home / "model.gguf")), longest_draft=3)
    assert engines() <= before


def test_where_none_can_be_started_it_is_said_when_it_is_needed(
    home: Path, story: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "file").write_text("")
    with monkeypatch.context() as patch:
        patch.setattr(folders, "log_path", lambda: home / "file" / "engine.log")
        launch = prepare(PairOptions(model=str(story.target), threads=1), longest_draft=3)
        with pytest.raises(EngineDied, match="cannot be started"):
            launch.open()
    with launch.running() as (engine, _ready):
        assert isinstance(engine, Engine)

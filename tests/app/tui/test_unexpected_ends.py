"""What ends as nobody thought does not look as if it went on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gemma_local.app import folders
from gemma_local.app.best.wish import Wish
from gemma_local.app.stop import Stop
from gemma_local.app.tui import contest_job, task_job
from gemma_local.app.tui.news import ContestOver, News, TaskDone


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(folders, "log_path", lambda: tmp_path / "log")
    return tmp_path / "log"


def fails(*_: object, **__: object) -> Any:
    raise ZeroDivisionError("nobody thought of it")


def test_a_task(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_job, "do_task", fails)
    told: list[News] = []
    nothing: Any = None
    task_job.do_task_job(nothing, 7, "proofread", nothing, told.append, Stop())
    [done] = told
    assert isinstance(done, TaskDone)
    assert done.task == 7
    assert "nobody thought of it" in log.read_text()


def test_a_contest(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Ground:
        terms = type("Terms", (), {"network": False})

        @classmethod
        def of(cls, _dialogue: object) -> type[Ground]:
            return cls

    class Contest:
        run = fails

    monkeypatch.setattr("gemma_local.app.best.ground.Ground", Ground)
    monkeypatch.setattr("gemma_local.app.abreast.widen", lambda *_: "")
    monkeypatch.setattr("gemma_local.app.best.contest.Contest", lambda *_: Contest())
    told: list[News] = []
    nothing: Any = None
    wish = Wish(2, "mend it", judge="true")
    contest_job.hold_contest(nothing, wish, told.append, nothing, Stop())
    assert isinstance(told[-1], ContestOver)
    assert told[-1].result is None
    assert "nobody thought of it" in log.read_text()

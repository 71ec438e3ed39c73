"""Tasks: a little repository, a pair that goes about it step by step, and what is left behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.app.agent.working import Work, repository, working
from tests.ggufs import Steps, build
from tests.ggufs.steps import Call

Task = Callable[..., Any]


def tree(root: Path) -> dict[str, bytes]:
    """Every file of a folder but git's own and what Python leaves behind."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not {".git", "__pycache__"} & set(path.parts)
    }


@pytest.fixture
def task(ggufs: Path, tmp_path: Path) -> Task:
    """Begins a task: the files there are, and what the model says step by step. At its end all
    changes are undone, which must leave the files as they were, and made again."""

    @contextmanager
    def begin(
        files: Mapping[str, str], *steps: Sequence[str | Call], undoes: bool = True, **how: Any
    ) -> Iterator[Work]:
        root = repository(tmp_path / "project", files)
        before = tree(root)
        pair = build("edge", Steps.of(*steps), ggufs / "tasks")
        with working(pair, root, **how) as work:
            yield work
            after = tree(root)
            if undoes and after != before:
                _go_back_and_forth(work, before, after)

    return begin


def _go_back_and_forth(work: Work, before: dict[str, bytes], after: dict[str, bytes]) -> None:
    undone = []
    while (restoration := work.agent.undo()) is not None:
        undone.append(restoration.messages)
        work.agent.restore(restoration)
    assert tree(work.root) == before
    for _ in undone:
        again = work.agent.redo()
        assert again is not None
        work.agent.restore(again)
    assert tree(work.root) == after

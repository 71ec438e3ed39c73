"""A workspace with something beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemma_local.app.agent.files.workspace import Workspace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The workspace's folder."""
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "app.py").write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file.txt").write_text("theirs\n", encoding="utf-8")
    return folder


@pytest.fixture
def workspace(root: Path) -> Workspace:
    return Workspace([root])

"""What is a project, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemma_local.app.agent.project import is_project


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that is no project, as far as anybody can tell."""
    letters = tmp_path / "letters"
    letters.mkdir()
    (letters / "2026").mkdir()
    (letters / "2026" / "to-the-bank.txt").touch()
    (letters / "photo.jpg").touch()
    assert not is_project(letters)
    return letters


@pytest.mark.parametrize("mark", [".git", "pyproject.toml", "Makefile", "AGENTS.md", "a.sln"])
def test_what_only_projects_have_makes_one_of_all_below(folder: Path, mark: str) -> None:
    (folder / mark).touch()
    assert is_project(folder) and is_project(folder / "2026")


def test_source_code_makes_one_of_the_folder_that_it_is_in(folder: Path) -> None:
    (folder / "Snake.PY").touch()
    assert is_project(folder)
    assert not is_project(folder / "2026")


def test_an_empty_folder_is_one_that_begins(folder: Path) -> None:
    new = folder / "new"
    new.mkdir()
    assert is_project(new)
    (new / ".DS_Store").touch()
    assert is_project(new)
    (new / "notes.txt").touch()
    assert not is_project(new)


def test_the_home_folder_and_what_it_lies_in_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setattr(Path, "home", lambda: home)
    assert not is_project(home)
    (home / "Makefile").touch()
    (home / "a.py").touch()
    assert not is_project(home) and not is_project(Path("/"))
    (home / "Downloads").mkdir()
    (home / "Downloads" / "invoice.pdf").touch()
    assert not is_project(home / "Downloads")


def test_what_cannot_be_read_is_none(tmp_path: Path) -> None:
    assert not is_project(tmp_path / "gone")

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from gemma_local.app.workspace import file_index
from gemma_local.app.workspace.errors import TooLarge
from gemma_local.app.workspace.file_index import FileIndex
from tests.waiting import until


def test_the_first_list_is_waited_for_and_later_ones_come_by_themselves(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    index = FileIndex(tmp_path, fresh_seconds=0.0)
    assert index.files().texts == ("a.py",)
    (tmp_path / "b.py").touch()
    until(lambda: index.files().texts == ("a.py", "b.py"))
    (tmp_path / "a.py").unlink()
    until(lambda: index.files().texts == ("b.py",))


def test_what_is_fresh_is_not_listed_again(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    index = FileIndex(tmp_path, fresh_seconds=1000.0)
    first = index.files()
    (tmp_path / "b.py").touch()
    index.warm()
    assert index.files() is first
    assert not [thread for thread in threading.enumerate() if thread.name == "files"]


def test_trouble_is_told_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: Path) -> None:
        raise TooLarge(f"{folder} is too large")

    monkeypatch.setattr(file_index, "list_files", refuse)
    index = FileIndex(tmp_path)
    for _ in range(2):
        with pytest.raises(TooLarge):
            index.files()


def test_a_folder_that_is_gone_has_no_files(tmp_path: Path) -> None:
    assert FileIndex(tmp_path / "gone").files().texts == ()

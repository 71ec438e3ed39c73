"""``gemma-local paths``: every folder that something is kept in, and how much."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

from gemma_local.app import cli, folders
from gemma_local.app.paths_command import places
from gemma_local.models.store.library import Library


def test_every_path_that_is_written_to_lies_in_one_of_them(home: Path) -> None:
    named = [place.path for place in places()]
    functions = [
        function
        for name, function in inspect.getmembers(folders)
        if name.endswith("_path") and callable(function)
    ]
    assert len(functions) > 8
    for function in functions:
        path = function(*("word" for _ in inspect.signature(function).parameters))
        assert any(path.is_relative_to(folder) for folder in named), function.__name__
    library = Library()
    assert any(library.folder.is_relative_to(folder) for folder in named)
    assert library.cache.folder in named


def test_it_counts_what_is_there(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folders.settings_path()
    path.parent.mkdir(parents=True)
    path.write_bytes(b"#" * 1500)
    (path.parent / "loop").symlink_to(path.parent)
    assert cli.main(["paths", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["settings"]
    assert found["path"] == str(path.parent)
    # The link itself takes a few bytes; what it leads to is not counted again.
    assert 1500 <= found["bytes"] < 1900
    assert cli.main(["paths"]) == 0
    out = capsys.readouterr().out
    assert f"settings  {path.parent}\n" in out
    assert "kB)" in out
    assert "(not there)" in out


def test_it_makes_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(home.rglob("*"))
    assert cli.main(["paths"]) == 0
    assert sorted(home.rglob("*")) == before


def test_what_it_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["paths", "--all"]) == 2
    assert "there is no option '--all'" in capsys.readouterr().err

from __future__ import annotations

from pathlib import Path

import pytest

from gemma_local.app.workspace.browse import entries_of, is_explicit


def test_which_paths_say_where_to_look() -> None:
    for path in ("/", "/etc", "~/", "./a", "../a", "C:\\x", "C:/x"):
        assert is_explicit(path)
    for path in ("", "a/b", "~", ".", ".env", "c:x"):
        assert not is_explicit(path)


def test_entries_are_as_they_would_be_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("place/b.py", "place/A.py", "place/.env", "place/deep/c.py", "else.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    folder = tmp_path / "place"
    assert entries_of("./", folder) == ["./A.py", "./b.py", "./deep/"]
    assert entries_of("./.e", folder) == ["./.env", "./A.py", "./b.py", "./deep/"]
    assert entries_of("../e", folder) == ["../else.md", "../place/"]
    assert entries_of(f"{folder}/deep/", tmp_path) == [f"{folder}/deep/c.py"]
    assert entries_of("./gone/", folder) == entries_of("./b.py/x", folder) == []
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert entries_of("~/p", folder) == ["~/else.md", "~/place/"]

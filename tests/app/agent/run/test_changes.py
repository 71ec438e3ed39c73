"""Which files a command has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemma_local.app.agent.run.changes import Changes, Snapshot


def test_new_changed_and_deleted_files(tmp_path: Path) -> None:
    for name in ("same", "changed", "deleted", "touched"):
        (tmp_path / name).write_text("1")
    (tmp_path / ".gitignore").write_text("ignored\n")
    other = tmp_path / "other-root"
    other.mkdir()
    before = Snapshot([tmp_path])
    assert before.until(Snapshot([tmp_path])) == Changes()
    (tmp_path / "changed").write_text("22")
    (tmp_path / "deleted").unlink()
    (tmp_path / "ignored").write_text("1")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "new").write_text("1")
    changes = before.until(Snapshot([tmp_path]))
    assert changes == Changes(("sub/new",), ("changed",), ("deleted",))
    assert changes.words() == "changed: changed; new: sub/new; deleted: deleted"


def test_a_second_root_is_named_in_full(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.mkdir()
    second.mkdir()
    before = Snapshot([first, second])
    (second / "f").write_text("")
    assert before.until(Snapshot([first, second])) == Changes((str(second / "f"),))


def test_a_folder_that_is_too_large_is_not_looked_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    before = Snapshot([tmp_path])
    assert before.until(Snapshot([tmp_path])) is None


def test_many_files_are_not_all_named() -> None:
    names = tuple(f"f{number:02}" for number in range(15))
    assert Changes(names).words() == f"new: {', '.join(names[:10])} and 5 more"
    assert Changes().words() == ""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gemma_local.app.workspace.errors import TooLarge
from gemma_local.app.workspace.listing import Listing, list_files

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="no git here")
needs_links = pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")


def make(folder: Path, *paths: str) -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(path)


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    return tmp_path


@needs_git
def test_git_lists_tracked_and_new_files_but_no_ignored_or_deleted_ones(repository: Path) -> None:
    make(repository, "kept.py", "src/gone.py", "src/new.py", "out/x.o", "node_modules/a/b.js")
    (repository / ".gitignore").write_text("out/\n")
    git(repository, "add", "kept.py", "src/gone.py")
    (repository / "src/gone.py").unlink()
    assert list_files(repository).paths == (".gitignore", "kept.py", "src/new.py")
    # Names are relative to the folder that was asked for, also within a repository.
    assert list_files(repository / "src").paths == ("new.py",)


@needs_git
def test_a_folder_that_is_ignored_as_a_whole_is_walked_through(repository: Path) -> None:
    (repository / ".gitignore").write_text("out/\n")
    make(repository, "out/a.py", "out/b/c.py")
    assert list_files(repository / "out").paths == ("a.py", "b/c.py")


@needs_git
def test_a_repository_cannot_start_a_program(repository: Path) -> None:
    make(repository, "a.py", "hook.sh")
    hook = repository / "hook.sh"
    hook.write_text(f"#!/bin/sh\ntouch '{repository.parent}/was-run'\n")
    hook.chmod(0o755)
    git(repository, "add", "a.py")
    git(repository, "config", "core.fsmonitor", str(hook))
    assert "a.py" in list_files(repository).paths
    assert not (repository.parent / "was-run").exists()


@needs_git
def test_walking_finds_what_git_finds(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(repository, "a.log", "keep.log", "b/a.log", "b/keep.log", "b/c/d.tmp", "b/c/e.py", "b/f")
    make(repository, "build/x", "b/build/y", "only/here", "b/only/here", "ü ñ.txt", "c/notes.md")
    (repository / ".gitignore").write_text("*.log\n!keep.log\n/build/\nonly\n")
    (repository / "b/.gitignore").write_text("!a.log\n*.tmp\n!only\nkeep.log\n")
    with_git = list_files(repository)
    monkeypatch.setenv("PATH", "")
    assert list_files(repository) == with_git
    assert {"b/a.log", "keep.log", "b/build/y", "b/only/here"} <= {*with_git.paths}
    assert {"a.log", "b/keep.log", "b/c/d.tmp", "build/x"}.isdisjoint(with_git.paths)


@needs_links
@pytest.mark.parametrize("is_repository", [True, False])
def test_no_link_leads_out(tmp_path: Path, *, is_repository: bool) -> None:
    make(tmp_path, "outside/secret", "inside/file")
    folder = tmp_path / "inside"
    (folder / "out").symlink_to(tmp_path / "outside")
    (folder / "out-file").symlink_to(tmp_path / "outside/secret")
    (folder / "within").symlink_to(folder / "file")
    (folder / "round").symlink_to(folder)
    (folder / "broken").symlink_to(folder / "nothing")
    if is_repository and shutil.which("git"):
        git(folder, "init", "-q")
    assert list_files(folder).paths == ("file", "within")


@pytest.mark.skipif(sys.platform == "win32", reason="no such names there")
def test_names_that_cannot_be_written_down_are_left_out(tmp_path: Path) -> None:
    make(tmp_path, "a\nb", 'quo"te', "tab\t", "fine name")
    (tmp_path / b"\xff".decode("utf-8", "surrogateescape")).write_text("x")
    assert list_files(tmp_path).paths == ("fine name",)


def test_limits_are_kept_and_said(tmp_path: Path) -> None:
    make(tmp_path, *(f"{part}/{number}" for part in "abc" for number in range(5)), "top")
    cut = list_files(tmp_path, most=6)
    assert len(cut.paths) == 6 and not cut.is_whole and cut.paths[0] == "top"
    assert list_files(tmp_path).is_whole
    assert list_files(tmp_path, seconds=-1.0) == Listing((), is_whole=False)


@pytest.mark.skipif(sys.platform == "win32", reason="uses sh")
def test_a_git_that_takes_its_time_leaves_a_list_that_is_not_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "work/a", "bin/git")
    slow = tmp_path / "bin" / "git"
    slow.write_text("#!/bin/sh\nsleep 0.3\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", str(slow.parent), prepend=os.pathsep)
    assert list_files(tmp_path / "work", seconds=0.1) == Listing((), is_whole=False)


def test_an_empty_folder_is_listed_whole(tmp_path: Path) -> None:
    assert list_files(tmp_path) == Listing()


def test_home_and_what_is_above_it_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "people" / "me"
    make(home, "work/a.py")
    monkeypatch.setattr(Path, "home", lambda: home)
    for folder in (home, home.parent, Path(home.anchor), home / "work" / ".."):
        with pytest.raises(TooLarge, match="type a path"):
            list_files(folder)
    assert list_files(home / "work").paths == ("a.py",)

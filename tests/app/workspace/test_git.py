"""How git is asked: nothing that a repository says has it run a program."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gemma_local.app.best import worktree
from gemma_local.app.workspace.git import environment_of_git, git_command
from gemma_local.app.workspace.listing import list_files

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="uses sh"),
    pytest.mark.skipif(shutil.which("git") is None, reason="no git here"),
]
WHO = ("-c", "user.name=a", "-c", "user.email=a@example.org")


def ask(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = git_command(words, but_not_in=[folder])
    assert command is not None
    return subprocess.run(
        command, cwd=folder, env=environment_of_git(), capture_output=True, text=True, check=False
    )


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *WHO, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    """A program that says that it was run."""
    path = tmp_path / "evil"
    path.write_text(f"#!/bin/sh\ntouch '{tmp_path}/was-run'\n")
    path.chmod(0o755)
    return path


def hostile(folder: Path, evil: Path, *settings: str) -> None:
    for name in settings:
        git(folder, "config", name, f"!{evil}" if name.startswith("alias") else str(evil))


def test_a_bare_repository_among_the_files_is_none(tmp_path: Path, evil: Path) -> None:
    work = tmp_path / "work"
    (work / "lib").mkdir(parents=True)
    git(work, "init", "-q")
    git(work / "lib", "init", "-q", "--bare", ".")
    hostile(work / "lib", evil, "core.fsmonitor", "alias.ls-files")
    git(work / "lib", "config", "core.bare", "false")
    git(work / "lib", "config", "core.worktree", str(work))
    (work / "a").touch()
    assert ask(work / "lib", "rev-parse", "--git-dir").returncode != 0
    assert "config" in list_files(work / "lib", root=work).paths
    assert "a" in list_files(work).paths
    assert worktree.repository_of(work / "lib") is None
    assert not (tmp_path / "was-run").exists()
    # Git by itself takes the folder for a repository, and runs what it names.
    subprocess.run(["git", "status"], cwd=work / "lib", capture_output=True, check=False)
    assert (tmp_path / "was-run").exists()


def test_no_setting_of_a_repository_runs_a_program(tmp_path: Path, evil: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    git(work, "init", "-q")
    (work / "a").write_text("a\n")
    (work / ".gitattributes").write_text("* diff=evil\n")
    git(work, "add", "a")
    git(work, "commit", "-qm", "first")
    hostile(
        work, evil, "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "gpg.program"
    )
    hostile(work, evil, "diff.external", "credential.helper", "core.askPass", "pager.log")
    git(work, "config", "core.hooksPath", str(work / "hooks"))
    git(work, "config", "remote.origin.url", "ssh://nowhere.invalid/x")
    (work / "hooks").mkdir()
    for name in ("pre-commit", "post-index-change", "post-checkout", "reference-transaction"):
        shutil.copy(evil, work / "hooks" / name)
    for words in (
        ("status",),
        ("log",),
        ("ls-files", "--others"),
        ("update-index", "--refresh"),
        ("diff", "--no-ext-diff"),
        ("fetch", "origin"),
        ("commit", "--allow-empty", "-m", "x"),
        ("update-ref", "refs/heads/other", "HEAD"),
    ):
        ask(work, *words)
        assert not (tmp_path / "was-run").exists(), words
    found = worktree.repository_of(work)
    assert found is not None
    worktree.add(found, tmp_path / "another")
    assert not (tmp_path / "was-run").exists()
    subprocess.run(["git", "status"], cwd=work, capture_output=True, check=False)
    assert (tmp_path / "was-run").exists()


def test_every_call_is_made_in_one_place() -> None:
    """Others would lack what is said there."""
    app = Path(worktree.__file__).parents[1]
    callers = [
        path.relative_to(app).as_posix()
        for path in sorted(app.rglob("*.py"))
        if any(text in path.read_text("utf-8") for text in ('installed("git"', '["git"', '("git",'))
    ]
    assert callers == ["workspace/git.py"]
    assert git_command(["status"], but_not_in=[Path(os.sep)]) is None

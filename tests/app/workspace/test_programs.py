"""No program of a workspace's own is run unasked, and none that its repository names."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gemma_local.app.workspace.git import environment_of_git
from gemma_local.app.workspace.listing import list_files
from gemma_local.app.workspace.programs import installed

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="uses sh")
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="no git here")


def program(path: Path, text: str = "exit 0") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_where_a_program_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside, outside = tmp_path / "work" / ".venv" / "bin", tmp_path / "bin"
    program(inside / "tool")
    found = program(outside / "tool")
    program(tmp_path / "work" / "here")
    (outside / "linked").symlink_to(inside / "tool")
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("PATH", os.pathsep.join([".", "", str(inside), str(outside)]))
    assert installed("tool") == str(inside / "tool")
    assert installed("tool", but_not_in=[tmp_path / "work"]) == str(found)
    assert installed("linked", but_not_in=[tmp_path / "work"]) is None
    assert installed("here") is None
    assert installed("nowhere") is None


@needs_git
def test_a_workspace_does_not_bring_its_own_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    program(work / "bin" / "git", f"touch '{tmp_path}/was-run'")
    (work / "src").mkdir()
    (work / "src" / "a.py").touch()
    monkeypatch.setenv("PATH", str(work / "bin"), prepend=os.pathsep)
    assert list_files(work).paths == ("bin/git", "src/a.py")
    assert list_files(work / "src", root=work).paths == ("a.py",)
    assert not (tmp_path / "was-run").exists()


@needs_git
def test_what_a_repository_lacks_is_not_fetched(tmp_path: Path) -> None:
    """A folder that git did not check out, whose list of files is not there."""
    work = tmp_path / "work"
    for name in ("out/of/sight", "seen/a"):
        (work / name).parent.mkdir(parents=True)
        (work / name).write_text(name)

    def git(*words: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        done = subprocess.run(
            ["git", *who, *words], cwd=work, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "first")
    git("sparse-checkout", "init", "--cone", "--sparse-index")
    git("sparse-checkout", "set", "seen")
    missing = git("rev-parse", "HEAD:out")
    (work / ".git" / "objects" / missing[:2] / missing[2:]).unlink()
    evil = program(tmp_path / "evil", f"touch '{tmp_path}/was-run'")
    for name, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": str(work),
        "remote.origin.uploadPack": str(evil),
        "protocol.file.allow": "always",
    }.items():
        git("config", name, value)
    list_files(work)
    assert not (tmp_path / "was-run").exists()
    environ = {
        name: value
        for name, value in environment_of_git().items()
        if name not in ("GIT_NO_LAZY_FETCH", "GIT_ALLOW_PROTOCOL")
    }
    subprocess.run(["git", "ls-files"], cwd=work, env=environ, capture_output=True, check=False)
    if not (tmp_path / "was-run").exists():
        pytest.skip("this git does not fetch here anyway")

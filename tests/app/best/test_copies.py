"""Copies of the person's files, what is different in them, and that nothing stays behind."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gemma_local.app import folders
from gemma_local.app.agent.run.sandbox import Sandbox, offered
from gemma_local.app.best import copies as copies_module
from gemma_local.app.best.changes import Changes, changes_of
from gemma_local.app.best.copies import Copies
from gemma_local.app.best.errors import Ended, NoAttempts
from gemma_local.app.best.judge import Judge
from gemma_local.app.best.scratch import Scratch, sweep
from gemma_local.app.stop import Stop
from tests.app.agent.working import repository
from tests.app.best.contesting import git, left_behind, state_of

FILES = {"app.py": "a = 1\n", "src/more.py": "b = 2\n", "run.sh": "echo\n", "old.txt": "old\n"}


@pytest.fixture
def project(home: Path) -> Path:
    return repository(home / "work", FILES)


@pytest.fixture
def scratch(home: Path) -> Iterator[Scratch]:
    made = Scratch.make()
    yield made
    made.remove()
    assert left_behind() == []


def copied(folder: Path, scratch: Scratch, *, is_confined: bool = True) -> Copies:
    return Copies(folder, scratch, 2, is_confined=is_confined, check=lambda: None)


def tree(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): path.read_text("utf-8")
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".git" not in path.parts
    }


def change_all(root: Path) -> None:
    """What an attempt may do: change, make, delete, rename, make executable."""
    (root / "app.py").write_text("a = 2\n", "utf-8")
    (root / "src" / "new.py").write_text("n = 3\n", "utf-8")
    (root / "old.txt").unlink()
    (root / "src" / "more.py").rename(root / "src" / "other.py")
    (root / "run.sh").chmod(0o755)
    (root / "__pycache__").mkdir()
    (root / "__pycache__" / "app.pyc").write_bytes(b"\0")


def check_all(changes: Changes) -> None:
    by_path = {change.path: change for change in changes.files}
    assert sorted(by_path) == [
        *("app.py", "old.txt", "run.sh", "src/more.py", "src/new.py", "src/other.py"),
    ]
    assert by_path["old.txt"].after is None
    assert by_path["src/new.py"].before is None
    assert by_path["run.sh"].mode & 0o100
    assert changes.counts == (3, 3)
    assert changes.left_out == ()


@pytest.mark.parametrize("kind", ["worktree", "plain"])
def test_what_is_different_is_found(kind: str, project: Path, scratch: Scratch) -> None:
    before = state_of(project)
    copies = copied(project, scratch, is_confined=kind == "worktree")
    one, other = copies.make("1"), copies.make("2")
    assert (one.worktree is not None) is (kind == "worktree")
    assert tree(one.root) == tree(other.root) == FILES
    change_all(one.root)
    check_all(changes_of(copies.base, one))
    assert changes_of(copies.base, other) == Changes()
    # Touched, and the same again.
    (other.root / "app.py").write_text("a = 1\n", "utf-8")
    assert changes_of(copies.base, other) == Changes()
    scratch.remove()
    assert state_of(project) == before
    assert tree(project) == FILES


def test_changes_can_be_applied_by_git(project: Path, scratch: Scratch) -> None:
    (project / "src" / "more.py").write_bytes(b"no end")
    copies = copied(project, scratch)
    one = copies.make("1")
    change_all(one.root)
    (one.root / "old.txt").write_bytes(b"now without an end")
    changes = changes_of(copies.base, one)
    patch = scratch.folder / "patch"
    patch.write_text(changes.unified(), "utf-8")
    git(project, "apply", str(patch))
    assert changes_of(one, one) == changes_of(copies.base, copies.make("2"))
    now = {p: t for p, t in tree(one.root).items() if "__pycache__" not in p}
    assert tree(project) == now
    assert (project / "run.sh").stat().st_mode & 0o100


def test_work_in_a_folder_of_a_repository_sees_all_of_it(project: Path, scratch: Scratch) -> None:
    copies = copied(project / "src", scratch)
    one = copies.make("1")
    assert one.root == one.top / "src"
    assert (one.top / "app.py").exists()
    (one.top / "app.py").write_text("elsewhere\n", "utf-8")
    (one.root / "more.py").write_text("b = 3\n", "utf-8")
    # Only what lies where the work is done can be taken.
    assert [change.path for change in changes_of(copies.base, one).files] == ["more.py"]


def test_git_in_a_copy_cannot_mislead_us(project: Path, scratch: Scratch) -> None:
    """An attempt may put a repository of its own there, with programs to be run."""
    copies = copied(project / "src", scratch)
    one = copies.make("1")
    mark = scratch.folder / "ran"
    program = scratch.folder / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n", "utf-8")
    program.chmod(0o755)
    for place in (one.root, one.top):
        shutil.rmtree(place / ".git", ignore_errors=True)
        (place / ".git").unlink(missing_ok=True)
        git(place, "init", "-q")
        git(place, "config", "core.fsmonitor", str(program))
        (place / ".git" / "info" / "exclude").write_text("*\n", "utf-8")
    mark.unlink(missing_ok=True)
    (one.root / "new.py").write_text("n = 1\n", "utf-8")
    assert [change.path for change in changes_of(copies.base, one).files] == ["new.py"]
    assert not mark.exists()


def test_without_anything_committed_or_ignored_folders_copies_are_plain(
    home: Path, scratch: Scratch
) -> None:
    work = home / "work"
    git(work, "init", "-q")
    (work / "a.txt").write_text("a\n", "utf-8")
    assert copied(work, scratch).make("1").worktree is None


def test_a_folder_that_git_ignores_is_copied_without_the_repository(
    project: Path, scratch: Scratch
) -> None:
    (project / ".gitignore").write_text("drafts/\n", "utf-8")
    (project / "drafts").mkdir()
    (project / "drafts" / "one.txt").write_text("one\n", "utf-8")
    copies = copied(project / "drafts", scratch)
    one = copies.make("1")
    assert one.worktree is None and tree(one.root) == {"one.txt": "one\n"}
    (one.root / "one.txt").write_text("two\n", "utf-8")
    assert [change.path for change in changes_of(copies.base, one).files] == ["one.txt"]


def test_where_git_refuses_a_worktree_copies_are_plain(project: Path, scratch: Scratch) -> None:
    (project / ".git" / "worktrees").touch()
    copies = copied(project, scratch)
    one = copies.make("1")
    assert one.worktree is None and tree(one.root) == FILES
    change_all(one.root)
    check_all(changes_of(copies.base, one))


def test_an_attempt_that_changes_half_a_disk_is_cut_off(
    project: Path, scratch: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gemma_local.app.best.changes.MOST_FILES", 2)
    copies = copied(project, scratch)
    one = copies.make("1")
    for name in "abcd":
        (one.root / f"{name}.txt").write_text(f"{name}\n", "utf-8")
    changes = changes_of(copies.base, one)
    assert [change.path for change in changes.files] == ["a.txt", "b.txt"]
    assert changes.left_out == ("2 of 4 files are too many",)


def test_lines_of_large_files_are_counted_without_comparing_each(
    project: Path, scratch: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that differ are counted as if none of them were the same, and that is quick."""
    (project / "app.py").write_text("first\na\nb\nc\nlast\n", "utf-8")
    copies = copied(project, scratch)
    one = copies.make("1")
    (one.root / "app.py").write_text("first\nx\nb\ny\nz\nlast\n", "utf-8")
    assert changes_of(copies.base, one).counts == (3, 2)
    monkeypatch.setattr("gemma_local.app.best.changes._MOST_COMPARED", 11)
    assert changes_of(copies.base, one).counts == (4, 3)


def test_data_that_is_no_text_is_only_said_to_differ(project: Path, scratch: Scratch) -> None:
    (project / "image").write_bytes(b"\0\1")
    copies = copied(project, scratch)
    one = copies.make("1")
    (one.root / "image").write_bytes(b"\0\2")
    (one.root / "more").write_bytes(b"\0\3")
    assert changes_of(copies.base, one).unified() == (
        "diff --git a/image b/image\nBinary files differ\n"
        "diff --git a/more b/more\nnew file mode 100644\nBinary files differ\n"
    )


def test_secrets_links_and_large_files_are_not_taken(
    project: Path, scratch: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gemma_local.app.best.changes.MOST_BYTES", 1_000)
    copies = copied(project, scratch)
    one = copies.make("1")
    (one.root / ".env").write_text("KEY=1\n", "utf-8")
    (one.root / "large.txt").write_text("x" * 2_000, "utf-8")
    (one.root / "app.py").unlink()
    (one.root / "app.py").symlink_to("/etc/passwd")
    changes = changes_of(copies.base, one)
    assert changes.files == ()
    assert changes.left_out == (
        ".env may hold secrets",
        "app.py is no ordinary file",
        "large.txt has 0 MB",
    )


def test_links_of_the_project_lead_into_the_copy(project: Path, scratch: Scratch) -> None:
    (project / "near.py").symlink_to("app.py")
    (project / "far.py").symlink_to(project / "src" / "more.py")
    (project / "out.py").symlink_to("/etc/hostname")
    git(project, "add", "-A")
    one = copied(project, scratch).make("1")
    assert (one.root / "near.py").resolve() == one.root / "app.py"
    assert (one.root / "far.py").resolve() == one.root / "src" / "more.py"
    assert not (one.root / "out.py").is_symlink()


def test_too_much_is_refused_with_a_sentence(
    project: Path, scratch: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies_module, "MOST_BYTES", 10)
    with pytest.raises(NoAttempts, match="let git ignore what is not needed"):
        copied(project, scratch)
    monkeypatch.setattr(copies_module, "MOST_BYTES", 10_000)
    monkeypatch.setattr(copies_module, "_KEPT_FREE", 1 << 60)
    with pytest.raises(NoAttempts, match="ask for fewer attempts"):
        copied(project, scratch)
    with pytest.raises(NoAttempts, match="far more than a project"):
        copied(Path.home(), scratch)
    monkeypatch.setattr(copies_module, "_SECONDS", 0.0)
    with pytest.raises(NoAttempts, match="more than 50,000 files, or they take too long to find"):
        copied(project, scratch)


def test_where_nothing_can_be_written_that_is_said(home: Path) -> None:
    place = folders.attempts_path()
    place.parent.mkdir(parents=True)
    place.touch()
    with pytest.raises(NoAttempts, match=f"no copies can be made in {place}: file exists"):
        Scratch.make()


def test_copying_can_be_ended(project: Path, scratch: Scratch) -> None:
    stop = Stop()
    stop.ask()

    def check() -> None:
        if stop.is_asked:
            raise Ended

    with pytest.raises(Ended):
        Copies(project, scratch, 2, is_confined=True, check=check)


def test_what_a_killed_process_left_goes_and_what_is_used_stays(project: Path) -> None:
    before = state_of(project)
    program = (
        "import os, pathlib\n"
        "from gemma_local.app.best.copies import Copies\n"
        "from gemma_local.app.best.scratch import Scratch\n"
        "scratch = Scratch.make()\n"
        "copies = Copies(pathlib.Path.cwd(), scratch, 2, is_confined=True, check=lambda: None)\n"
        "copies.make('1'); copies.make('2')\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=project, check=False)
    assert done.returncode == -9
    assert len([name for name in left_behind() if not name.endswith(".lock")]) == 1
    assert state_of(project) != before
    # Their own stay, those of a disk that is not there as well.
    git(project, "worktree", "add", "-q", "--detach", str(project.parent / "theirs"))
    shutil.rmtree(project.parent / "theirs")
    scratch = Scratch.make()
    assert [name for name in left_behind() if not name.endswith(".lock")] == [scratch.folder.name]
    assert "theirs" in git(project, "worktree", "list")
    assert str(folders.attempts_path()) not in git(project, "worktree", "list")
    copied(project, scratch).make("1")
    sweep()
    assert (scratch.folder / "1" / "app.py").exists()
    scratch.remove()
    git(project, "worktree", "prune")
    assert state_of(project) == before


@pytest.mark.skipif(not offered().is_any, reason="nothing confines commands here")
def test_commands_in_a_copy_write_nowhere_else(project: Path, scratch: Scratch) -> None:
    copies = copied(project, scratch)
    one, other = copies.make("1"), copies.make("2")
    (project / ".venv" / "bin").mkdir(parents=True)
    lent = copies.make("3")
    before = state_of(project)
    targets = {
        "the project": project / "app.py",
        "the other copy": other.root / "app.py",
        "what all began with": copies.base.root / "app.py",
        "git": project / ".git" / "HEAD",
        "what is lent": lent.root / ".venv" / "bin" / "python",
    }
    stop = Stop()
    for name, path in targets.items():
        where = lent if name == "what is lent" else one
        judged = Judge(f"echo x >> '{path}'").judge(where.root, os.environ, stop)
        assert not judged.passes, name
    assert (
        not Judge("git stash; git branch b; git commit -qam x")
        .judge(one.root, {**os.environ, "GIT_AUTHOR_NAME": "A"}, stop)
        .passes
    )
    assert Judge("echo x >> app.py && git diff --stat").judge(one.root, os.environ, stop).passes
    assert state_of(project) == before
    assert tree(project) == FILES


def test_commands_find_the_copy_and_not_the_project(project: Path, scratch: Scratch) -> None:
    (project / "pyproject.toml").touch()
    (project / ".venv" / "bin").mkdir(parents=True)
    (project / ".gitignore").write_text(".venv/\n", "utf-8")
    copies = copied(project, scratch)
    one = copies.make("1")
    base = {"PATH": f"{project}/.venv/bin:/usr/bin", "PYTHONPATH": f"{project}/src:/elsewhere"}
    found = one.environment(base, project)
    assert found["PATH"] == f"{one.root}/.venv/bin:/usr/bin"
    assert found["PYTHONPATH"] == f"{one.root}/src:{one.root}:{one.root}/src:/elsewhere"
    judge = Judge("python3 -c 'import app; print(app.__file__); assert app.a == 2'")
    (one.root / "app.py").write_text("a = 2\n", "utf-8")
    judged = judge.judge(one.root, one.environment({**os.environ, **base}, project), Stop())
    assert judged.passes, judged


def test_a_judge_has_its_time_and_its_rule(project: Path) -> None:
    slow = Judge("echo begun; sleep 30", seconds=0.5).judge(project, os.environ, Stop())
    assert (slow.passes, slow.how, slow.last) == (False, "not finished after 0 s", "begun")
    missing = Judge("no-such-program").judge(project, os.environ, Stop())
    assert (missing.passes, missing.how) == (False, "exit status 127")
    assert Judge("pytest -q tests").rule(project) == "run: pytest *"
    assert Judge("rm -rf build && pytest").rule(project) == ""


def test_a_sandbox_there_is_or_it_is_said(project: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Sandbox, "wrapped", lambda self, words, folder: ["/no/such/launcher"])
        judged = Judge("true").judge(project, os.environ, Stop())
    assert not judged.passes and judged.how.startswith("could not be started")

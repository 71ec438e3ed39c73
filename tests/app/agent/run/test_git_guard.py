"""What commands leave behind does not run when the person uses git the next time: tried for real,
with git, in each sandbox."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from gemma_local.app.agent.run.git_files import GitFiles
from gemma_local.app.agent.run.git_guard import GitGuard, told
from tests.app.agent.run.confined import Confined, confined, main_ways

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="uses bash"),
    pytest.mark.skipif(shutil.which("git") is None, reason="no git here"),
]
WHO = ("-c", "user.name=a", "-c", "user.email=a@example.org")

# Each has git run $EVIL when the person commits, or asks for the status.
TRAPS = {
    "a hook where there was no folder for any": (
        "mkdir -p .git/hooks; cp $EVIL .git/hooks/pre-commit"
    ),
    "another hook": "cp $EVIL .git/hooks/pre-commit",
    "hooks by a link": "rm -rf .git/hooks; mkdir h; cp $EVIL h/pre-commit; ln -s ../h .git/hooks",
    "settings": "git config core.fsmonitor $EVIL",
    "settings of this worktree": (
        "git config --file .git/config.worktree core.fsmonitor $EVIL;"
        " git config extensions.worktreeConfig true"
    ),
    "settings elsewhere": (
        "cp -r .git away; git config --file away/config core.fsmonitor $EVIL;"
        " echo ../away >.git/commondir"
    ),
    "another folder in its place": (
        "mv .git away; cp -r away .git; git config --file .git/config core.fsmonitor $EVIL"
    ),
    "a link in its place": (
        "cp -r .git away; git config --file away/config core.fsmonitor $EVIL;"
        " mv .git old && ln -s away .git"
    ),
    "settings of a submodule": "git config --file .git/modules/sub/config core.fsmonitor $EVIL",
    "another folder for the submodules": (
        "cp -r .git/modules away; git config --file away/sub/config core.fsmonitor $EVIL;"
        " git config --file away/sub/config core.worktree ../../sub;"
        " mv .git/modules old && ln -s ../away .git/modules"
    ),
    "where the settings of a submodule are": (
        "cp -r .git/modules/sub away; git config --file away/config core.worktree ../sub;"
        " git config --file away/config core.fsmonitor $EVIL; echo 'gitdir: ../away' >sub/.git"
    ),
    "a repository in the repository": (
        "git init -q new; cd new; git config core.fsmonitor $EVIL; touch a; git add a;"
        " git -c user.name=n -c user.email=e commit -qm a; cd ..; git add new"
    ),
}


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *WHO, "-c", "protocol.file.allow=always", *words],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
    )
    return done.stdout


def prepared(box: Confined, trap: str = "") -> dict[str, str]:
    """A repository with a submodule, and the program that is not to be run."""
    other = box.outside / "other"
    other.mkdir()
    for folder in (other, box.root):
        (folder / "a").write_text("a\n")
        git(folder, "init", "-q")
        git(folder, "add", "a")
        git(folder, "commit", "-qm", "first")
    git(box.root, "submodule", "--quiet", "add", str(other), "sub")
    git(box.root, "commit", "-qm", "second")
    evil = box.home / "evil"
    evil.write_text(f"#!/bin/sh\ntouch '{box.home}/was-run'\n")
    evil.chmod(0o755)
    if "no folder" in trap:
        shutil.rmtree(box.root / ".git" / "hooks")
    assert git(box.root, "status", "--short") == ""
    return {"EVIL": str(evil)}


def used(box: Confined) -> bool:
    """Whether the trap runs when the person uses git."""
    (box.root / "a").write_text("b\n")
    git(box.root, "status")
    git(box.root, "commit", "-qam", "third")
    return (box.home / "was-run").exists()


@main_ways
@pytest.mark.parametrize("trap", TRAPS)
def test_no_trap_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, trap: str
) -> None:
    with confined(tmp_path, monkeypatch, way) as box:
        given = prepared(box, trap)
        before = box.sandbox.git_before()
        assert before is not None
        said = box.run(TRAPS[trap], environment=given).output
        left = box.sandbox.git_guard(before).settle()
        assert not used(box), (said, left)
        assert all(path.is_relative_to(box.root) for path in left)
        if "mv " not in TRAPS[trap]:
            # Else something is missing now, which no sandbox prevents.
            assert git(box.root, "log", "--format=%s").split() == ["third", "second", "first"]
        # Whatever was moved aside is not taken for new the next time.
        assert box.sandbox.git_guard(GitFiles.there([box.root])).settle() == []


@pytest.mark.parametrize("trap", TRAPS)
def test_without_the_guard_the_traps_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trap: str
) -> None:
    """Else those that are tried would prove nothing."""
    with confined(tmp_path, monkeypatch, "none") as box:
        given = prepared(box, trap)
        box.run(TRAPS[trap], environment=given)
        assert used(box)


@main_ways
def test_ordinary_work_is_let_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    with confined(tmp_path, monkeypatch, way) as box:
        for text in (
            "git init -q && touch a && git add a && git commit -qm first && git branch other",
            "git init -q deep/er && git init -q --bare bare.git && git clone -q . copy",
            "git stash; git checkout -q other; git mv a b; git commit -qm second; git gc -q",
            "cd copy && git commit -q --allow-empty -m x && cd .. && mv copy moved",
            "rm -rf moved deep bare.git",
        ):
            before = box.sandbox.git_before()
            assert before is not None
            who = {
                f"GIT_{one}_{what}": "a" for one in ("AUTHOR", "COMMITTER") for what in ("NAME",)
            }
            who |= {"GIT_AUTHOR_EMAIL": "a", "GIT_COMMITTER_EMAIL": "a"}
            done = box.run(text, environment=who)
            assert done.status == 0, done.output
            assert box.sandbox.git_guard(before).settle() == []
        assert git(box.root, "log", "--format=%s").split() == ["second", "first"]


@main_ways
def test_a_new_repository_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    with confined(tmp_path, monkeypatch, way) as box:
        given = {"EVIL": str(box.home / "evil")}
        before = box.sandbox.git_before()
        assert before is not None
        box.run(
            "git init -q; echo x >.git/hooks/post-commit; git config alias.st '!rm -rf ..';"
            " git init -q --bare lib; git config --file lib/config core.fsmonitor $EVIL",
            environment=given,
        )
        left = box.sandbox.git_guard(before).settle()
        names = [".git/config", ".git/hooks/post-commit", "lib/config"]
        assert sorted(str(path.relative_to(box.root)) for path in left) == names
        assert git(box.root, "config", "--get", "alias.st") == ""
        assert (box.root / ".git" / "config.set-aside").is_file()
        words = told(left, [box.root])
        assert all(name in words for name in names) and '".set-aside"' in words


@main_ways
def test_a_repository_may_be_moved_with_all_that_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    with confined(tmp_path, monkeypatch, way) as box:
        git(box.root, "init", "-q", "lib")
        git(box.root / "lib", "config", "alias.st", "!theirs")
        (box.root / "lib" / ".git" / "hooks" / "pre-commit").write_text("theirs\n")
        before = box.sandbox.git_before()
        assert before is not None
        assert box.run("mv lib moved").status == 0
        assert box.sandbox.git_guard(before).settle() == []
        assert (box.root / "moved" / ".git" / "hooks" / "pre-commit").exists()


@main_ways
def test_what_the_person_does_meanwhile_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    if way == "Landlock alone":
        pytest.skip("there nobody can tell who did it")
    with confined(tmp_path, monkeypatch, way) as box:
        prepared(box)
        before = box.sandbox.git_before()
        assert before is not None
        git(box.root, "config", "alias.st", "status")
        (box.root / ".git" / "hooks" / "pre-push").write_text("#!/bin/sh\n")
        assert box.sandbox.git_guard(before).settle() == []


@main_ways
def test_who_was_allowed_to_is_not_looked_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    with confined(tmp_path, monkeypatch, way) as box:
        prepared(box)
        assert box.sandbox.git_before(frozenset(["git"])) is None
        assert box.sandbox.git_before(frozenset(["outside"])) is None


def test_in_a_workspace_that_was_not_looked_through_nothing_is_taken_for_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub" / ".git" / "hooks").mkdir(parents=True)
    (tmp_path / "sub" / ".git" / "hooks" / "pre-commit").write_text("theirs\n")
    with monkeypatch.context() as patched:
        patched.setattr("gemma_local.app.agent.run.git_files._MOST_FOLDERS", 0)
        before = GitFiles.there([tmp_path])
    assert not before.is_whole
    with confined(tmp_path / "box", monkeypatch, "none") as box:
        assert box.sandbox.git_guard(before).settle() == []


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with a worktree in it."""
    root = tmp_path.resolve() / "project"
    root.mkdir()
    (root / "a").write_text("a\n")
    for words in (("init", "-q"), ("add", "a"), ("commit", "-qm", "first")):
        git(root, *words)
    git(root, "worktree", "add", "-q", "--detach", "tree")
    return root


def settled(root: Path, change: Callable[[], object]) -> list[str]:
    """What is moved aside after ``change``."""
    before = GitFiles.there([root])
    change()
    left = GitGuard(before).settle()
    # And nothing more the next time.
    assert GitGuard(GitFiles.there([root])).settle() == []
    return [path.relative_to(root).as_posix() for path in left]


def test_settings_of_a_worktree_stay_what_they_were(root: Path) -> None:
    entry, evil = root / ".git" / "worktrees" / "tree", "[core]\n\tfsmonitor = evil\n"

    def change() -> None:
        (entry / "config.worktree").write_text(evil)
        (entry / "commondir").write_text("../../../away\n")

    assert sorted(settled(root, change)) == [
        ".git/worktrees/tree/commondir",
        ".git/worktrees/tree/config.worktree",
    ]
    assert (entry / "commondir").read_text().strip() == "../.."
    assert (entry / "config.worktree.set-aside").read_text() == evil
    assert git(root / "tree", "log", "--format=%s").split() == ["first"]


def test_a_submodule_may_have_slashes_in_its_name(root: Path) -> None:
    hooks = root / ".git" / "modules" / "deep" / "er" / "hooks"
    hooks.mkdir(parents=True)

    assert settled(root, lambda: (hooks / "pre-commit").write_text("evil\n")) == [
        ".git/modules/deep/er/hooks/pre-commit"
    ]


def test_links_and_modes_are_put_back(root: Path) -> None:
    shutil.rmtree(root / ".git" / "hooks")
    (root / "own").mkdir()
    (root / ".git" / "hooks").symlink_to("../own")
    (root / ".git" / "config").chmod(0o600)
    before = (root / ".git" / "config").read_bytes()

    def change() -> None:
        (root / ".git" / "hooks").unlink()
        (root / ".git" / "hooks").symlink_to("../tree")
        (root / ".git" / "config").write_text("[core\n")

    assert sorted(settled(root, change)) == [".git/config", ".git/hooks"]
    assert os.readlink(root / ".git" / "hooks") == "../own"  # noqa: PTH115 - as it is written
    assert (root / ".git" / "config").read_bytes() == before
    assert (root / ".git" / "config").stat().st_mode & 0o777 == 0o600


def test_what_cannot_be_looked_into_is_moved_aside_each_time(root: Path) -> None:
    """Too large to be kept in memory: nobody says what it does."""
    hook = root / ".git" / "hooks" / "pre-push"

    def change() -> None:
        hook.touch()
        os.truncate(hook, 5_000_000)

    assert settled(root, change) == [".git/hooks/pre-push"]
    assert settled(root, change) == [".git/hooks/pre-push"]
    names = {path.name for path in hook.parent.iterdir() if not path.name.endswith(".sample")}
    assert names == {"pre-push.set-aside", "pre-push.set-aside-2"}


def test_a_file_that_leads_nowhere_is_let_be(root: Path) -> None:
    (root / "sub").mkdir()
    written = root / "sub" / ".git"
    for text in ("no words of git's", "gitdir: \0", "gitdir: "):
        assert settled(root, partial(written.write_text, text)) == []
        written.unlink()


def test_of_many_the_first_are_told(root: Path) -> None:
    assert told([], [root]) == ""
    words = told([root / name for name in "abcdefg"] + [Path("/else/where")], [root])
    assert words.startswith("git could have run a program by a, b, c, d, e and 3 more: moved aside")

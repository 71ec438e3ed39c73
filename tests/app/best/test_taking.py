"""What is taken of an attempt, all of it or nothing, and what undo makes of that."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from gemma_local.app.agent.loop import Agent
from gemma_local.app.best.attempt import Outcome
from gemma_local.app.best.changes import Changes, FileChange
from gemma_local.app.best.contest import Result
from gemma_local.app.best.errors import NotTaken
from gemma_local.app.best.judge import Judged
from gemma_local.app.best.taking import take
from gemma_local.app.best.wish import Wish
from tests.app.best.contesting import APP, CHECK, PASSES, RIGHT, Desk, desk
from tests.disk import full_disk
from tests.ggufs import Pair

pytestmark = pytest.mark.timeout(240)

MENDED = APP.replace("return a - b", RIGHT)
LARGE = b"x" * 400_000
MOST = 100_000
"""Bytes of a file where the disk is full."""

posix = pytest.mark.skipif(os.name == "nt", reason="modes and limits of POSIX")


@pytest.fixture
def here(pair: Pair, project: Path) -> Iterator[Desk]:
    with desk(pair) as found:
        yield found


def changed(path: str, before: str | None, after: str | bytes | None, mode: int = 0) -> FileChange:
    """A change as an attempt makes it."""
    data = after.encode() if isinstance(after, str) else after
    return FileChange(path, None if before is None else before.encode(), data, mode)


def taken(here: Desk, *changes: FileChange) -> None:
    """Have an attempt taken that came to these changes."""
    made, good = Changes(changes), Judged(True, "exit status 0", "", 0.1)
    outcome = Outcome(1, 0, "answered", made, good, "It is mended.", 2, 30, 100, 1.0)
    take(here.talk, Result(Wish(2, "mend it"), PASSES, (outcome,)), outcome)


def agent_of(here: Desk) -> Agent:
    assert here.talk.agent is not None
    return here.talk.agent


def undo(here: Desk) -> list[str]:
    """Take back what was done last; the files that came back."""
    restoration = agent_of(here).undo()
    assert restoration is not None
    agent_of(here).restore(restoration)
    return [diff.path for diff in restoration.diffs]


def tree(root: Path) -> dict[str, tuple[int, bytes]]:
    """Every file, with mode and content."""
    return {
        path.relative_to(root).as_posix(): (path.stat().st_mode, path.read_bytes())
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".git" not in path.parts
    }


@posix
def test_files_come_go_and_become_programs_and_undo_takes_all_of_it_back(
    here: Desk, project: Path
) -> None:
    (project / "app.py").chmod(0o640)
    (project / "check.py").chmod(0o600)
    before = tree(project)
    taken(
        here,
        changed("app.py", APP, f"#!/bin/sh\n{APP}", 0o755),
        changed("check.py", CHECK, None),
        changed("new/inner/more.py", None, "m = 1\n", 0o644),
    )
    assert sorted(tree(project)) == ["app.py", "new/inner/more.py"]
    assert (project / "app.py").stat().st_mode & 0o777 == 0o755
    assert (project / "new" / "inner" / "more.py").read_text("utf-8") == "m = 1\n"
    answer = here.talk.conversation.entries[-1].message.text
    assert "app.py +1 -0, check.py +0 -3, new/inner/more.py +1 -0" in answer
    assert undo(here) == ["app.py", "check.py", "new/inner/more.py"]
    assert tree(project) == before and not (project / "new").exists()


@posix
def test_a_file_keeps_a_mode_that_the_attempt_has_not_meant(here: Desk, project: Path) -> None:
    (project / "app.py").chmod(0o600)
    taken(here, changed("app.py", APP, MENDED, 0o644))
    assert (project / "app.py").stat().st_mode & 0o777 == 0o600
    assert (project / "app.py").read_text("utf-8") == MENDED


@posix
def test_where_one_file_cannot_be_written_all_are_as_they_were(here: Desk, project: Path) -> None:
    (project / "app.py").chmod(0o640)
    (project / "check.py").chmod(0o600)
    taken(here, changed("first.py", None, "f = 1\n", 0o644))
    entries, before = list(here.talk.conversation.entries), tree(project)
    with full_disk(MOST), pytest.raises(NotTaken, match=r"^nothing was taken: File too large$"):
        taken(
            here,
            changed("app.py", APP, MENDED, 0o755),
            changed("check.py", CHECK, None),
            changed("fresh/inner/fresh.py", None, "f = 2\n", 0o644),
            changed("large/large.bin", None, LARGE, 0o644),
        )
    assert tree(project) == before
    assert not (project / "fresh").exists() and not (project / "large").exists()
    assert [entry for entry in here.talk.conversation.entries if not entry.dropped] == entries
    # What undo comes to is the last that was done.
    assert undo(here) == ["first.py"]


@posix
def test_what_cannot_be_put_back_is_named_and_undo_still_has_it(here: Desk, project: Path) -> None:
    """The large file could be made small, and not large again."""
    (project / "app.py").write_bytes(LARGE)
    agent_of(here).bench.checkpoints.begin(1)
    agent_of(here).bench.checkpoints.keep(project / "app.py")
    with (
        full_disk(MOST),
        pytest.raises(NotTaken, match=r"except app\.py, which could not be put back"),
    ):
        taken(
            here,
            changed("app.py", LARGE.decode(), "small\n"),
            changed("check.py", CHECK, None),
            changed("large.bin", None, LARGE, 0o644),
        )
    assert (project / "app.py").read_bytes() == b"small\n"
    assert (project / "check.py").read_text("utf-8") == CHECK
    assert undo(here) == ["app.py"]
    assert (project / "app.py").read_bytes() == LARGE


def test_a_file_in_the_place_of_a_folder_is_not_taken(here: Desk, project: Path) -> None:
    (project / "pkg").mkdir()
    before = tree(project)
    with pytest.raises(NotTaken, match="nothing was taken: pkg was not changed"):
        taken(here, changed("app.py", APP, MENDED), changed("pkg", None, "p = 1\n", 0o644))
    assert tree(project) == before
    assert agent_of(here).undo() is None


@posix
def test_links_lead_no_change_elsewhere(here: Desk, project: Path) -> None:
    """They may have been made since: what they lead to was not in the copy."""
    outside = project.parent / "outside"
    for place, name in ((outside, "out"), (project / "real", "lib")):
        place.mkdir()
        (place / "a.py").write_text("a = 1\n", "utf-8")
        (project / name).symlink_to(place)
    for name, why in (("lib", r"lib/a\.py leads by way of a link to real/a\.py"), ("out", "out")):
        with pytest.raises(NotTaken, match=f"nothing was taken: .*{why}"):
            taken(here, changed(f"{name}/a.py", "a = 1\n", "a = 2\n"))
    assert (outside / "a.py").read_text("utf-8") == "a = 1\n"
    assert (project / "real" / "a.py").read_text("utf-8") == "a = 1\n"
    assert here.talk.conversation.entries == []


def test_of_many_stale_files_the_first_are_named(here: Desk) -> None:
    gone = [changed(f"{name}.py", "was\n", "is\n") for name in "abcdefg"]
    with pytest.raises(NotTaken, match=r": a\.py, b\.py, c\.py, d\.py, e\.py and 2 more changed"):
        taken(here, *gone)

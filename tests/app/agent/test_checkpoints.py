"""What the model did to files can be undone, and nothing else is touched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemma_local.app.agent.checkpoints import NotKept, NotRestored
from gemma_local.app.agent.files.open_folder import OpenFolder
from tests.app.agent.checked_work import Work

posix = pytest.mark.skipif(os.name == "nt", reason="modes and signals of POSIX")


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path)


class TestUndo:
    def test_a_changed_file(self, work: Work) -> None:
        (work.root / "a").write_bytes(b"one\r\n")
        work.write(1, "a", b"two")
        work.write(1, "a", b"three")
        plan = work.checkpoints.undo()
        assert plan is not None and plan.messages == (1,)
        assert [(d.path, d.before, d.after) for d in plan.diffs] == [("a", "three", "one\n")]
        work.checkpoints.carry_out(plan)
        assert (work.root / "a").read_bytes() == b"one\r\n"

    def test_a_new_file_goes_with_the_folders_made_for_it(self, work: Work) -> None:
        work.write(1, "x/y/a", b"1")
        work.write(1, "x/y/b", b"2")
        assert work.undo()
        assert work.tree() == {}
        assert work.redo()
        assert (work.root / "x/y/b").read_bytes() == b"2"

    def test_a_turn_that_left_all_as_it_was_is_in_nobody_s_way(self, work: Work) -> None:
        """A model tries something and takes it back; before and after it has done more."""
        (work.root / "a").write_bytes(b"one")
        work.write(1, "a", b"two")
        work.write(2, "a", b"three")
        work.write(2, "a", b"two")
        work.write(3, "b", b"new")
        trees = [work.tree()]
        assert work.undo()
        trees.append(work.tree())
        assert work.undo()
        assert (work.root / "a").read_bytes() == b"one" and not (work.root / "b").exists()
        assert not work.undo()
        for tree in reversed(trees):
            assert work.redo()
            assert work.tree() == tree
        assert not work.redo()

    def test_where_nothing_is_left_to_undo_nothing_is_planned(self, work: Work) -> None:
        (work.root / "a").write_bytes(b"one")
        work.write(1, "a", b"two")
        # The person was faster.
        (work.root / "a").write_bytes(b"one")
        plan = work.checkpoints.undo()
        assert plan is not None and plan.diffs == ()

    def test_what_came_to_nothing_is_forgotten(self, work: Work) -> None:
        (work.root / "a").write_bytes(b"one")
        work.write(1, "a", b"two")
        work.checkpoints.begin(2)
        work.checkpoints.keep(work.root / "a", b"three")
        work.checkpoints.withdraw()
        # What nobody has begun to change is no turn either.
        work.checkpoints.begin(3)
        work.checkpoints.withdraw()
        work.reopen()
        plan = work.checkpoints.undo()
        assert plan is not None and plan.messages == (1,)

    def test_a_folder_that_others_use_stays(self, work: Work) -> None:
        work.write(1, "x/a", b"1")
        (work.root / "x" / "theirs").write_bytes(b"2")
        assert work.undo()
        assert list(work.tree()) == ["x", "x/theirs"]

    def test_a_deleted_file(self, work: Work) -> None:
        (work.root / "a").write_bytes(b"one")
        work.run(1, "a", None)
        assert work.undo()
        assert (work.root / "a").read_bytes() == b"one"
        assert work.redo()
        assert not (work.root / "a").exists()

    @posix
    def test_the_mode(self, work: Work) -> None:
        (work.root / "a").write_bytes(b"#!/bin/sh")
        (work.root / "a").chmod(0o755)
        work.run(1, "a", None)
        work.run(1, "a", b"other")
        assert work.undo()
        assert (work.root / "a").stat().st_mode & 0o777 == 0o755

    def test_turn_by_turn(self, work: Work) -> None:
        for message in (1, 3, 7):
            work.write(message, "a", b"%d" % message)
        assert work.undo() and (work.root / "a").read_bytes() == b"3"
        assert work.undo() and (work.root / "a").read_bytes() == b"1"
        assert work.redo() and (work.root / "a").read_bytes() == b"3"
        assert work.undo() and work.undo() and not work.undo()
        assert work.redo() and work.redo() and work.redo() and not work.redo()
        assert (work.root / "a").read_bytes() == b"7"

    def test_a_new_change_ends_what_could_be_done_again(self, work: Work) -> None:
        work.write(1, "a", b"1")
        work.write(2, "a", b"2")
        work.undo()
        work.write(3, "a", b"3")
        assert not work.redo()
        assert work.undo() and (work.root / "a").read_bytes() == b"1"

    def test_to_any_message(self, work: Work) -> None:
        for message in (2, 4, 6):
            work.write(message, f"of-{message}", b"x")
            work.write(message, "a", b"%d" % message)
        plan = work.checkpoints.restore(3)
        assert plan is not None and plan.messages == (4, 6)
        work.checkpoints.carry_out(plan)
        assert sorted(work.tree()) == ["a", "of-2"]
        assert (work.root / "a").read_bytes() == b"2"
        assert work.checkpoints.restore(3) is None
        assert work.redo() and work.redo()
        assert (work.root / "a").read_bytes() == b"6"

    def test_after_a_restart(self, work: Work) -> None:
        work.write(1, "a", b"1")
        work.reopen()
        assert work.undo()
        work.reopen()
        assert work.redo()
        assert (work.root / "a").read_bytes() == b"1"

    def test_an_undo_that_was_interrupted(
        self, work: Work, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("a", "b"):
            (work.root / name).write_bytes(b"old " + name.encode())
            work.write(1, name, b"new " + name.encode())
        plan = work.checkpoints.undo()
        assert plan is not None
        write = OpenFolder.write

        def ended(folder: OpenFolder, name: str, data: bytes, mode: int | None = None) -> None:
            if name == "b":
                raise KeyboardInterrupt
            write(folder, name, data, mode)

        with monkeypatch.context() as patch:
            patch.setattr(OpenFolder, "write", ended)
            with pytest.raises(KeyboardInterrupt):
                work.checkpoints.carry_out(plan)
        assert (work.root / "a").read_bytes() == b"old a"
        work.reopen()
        assert work.undo()
        assert (work.root / "b").read_bytes() == b"old b"
        assert work.redo()
        assert (work.root / "a").read_bytes() == b"new a"
        assert (work.root / "b").read_bytes() == b"new b"


class TestOthers:
    def test_what_others_wrote_is_not_lost_unasked(self, work: Work) -> None:
        (work.root / "a").write_bytes(b"one")
        work.write(1, "a", b"two")
        (work.root / "a").write_bytes(b"theirs")
        plan = work.checkpoints.undo()
        assert plan is not None and plan.foreign == ("a",)
        with pytest.raises(NotRestored, match="a changed since"):
            work.checkpoints.carry_out(plan)
        assert (work.root / "a").read_bytes() == b"theirs"
        work.checkpoints.carry_out(plan, replace_foreign=True)
        assert (work.root / "a").read_bytes() == b"one"
        assert work.redo()
        assert (work.root / "a").read_bytes() == b"theirs"

    def test_also_between_two_turns(self, work: Work) -> None:
        work.write(1, "a", b"one")
        (work.root / "a").write_bytes(b"theirs")
        work.write(2, "a", b"two")
        plan = work.checkpoints.restore(1)
        assert plan is not None and plan.foreign == ("a",)

    def test_a_file_that_changes_while_the_person_looks(self, work: Work) -> None:
        work.write(1, "a", b"one")
        plan = work.checkpoints.undo()
        assert plan is not None
        (work.root / "a").write_bytes(b"theirs")
        with pytest.raises(NotRestored, match="changed just now"):
            work.checkpoints.carry_out(plan)
        assert (work.root / "a").read_bytes() == b"theirs"

    def test_what_is_already_as_it_was(self, work: Work) -> None:
        work.write(1, "a", b"one")
        (work.root / "a").unlink()
        plan = work.checkpoints.undo()
        assert plan is not None and plan.diffs == () and plan.foreign == ()
        work.checkpoints.carry_out(plan)

    @posix
    def test_a_folder_that_became_a_link_is_not_gone_through(self, work: Work) -> None:
        (work.root / "x").mkdir()
        (work.root / "x" / "a").write_bytes(b"one")
        work.write(1, "x/a", b"two")
        elsewhere = work.root.parent / "elsewhere"
        (work.root / "x").rename(elsewhere)
        (work.root / "x").symlink_to(elsewhere)
        with pytest.raises(NotRestored):
            work.undo()
        assert (elsewhere / "a").read_bytes() == b"two"

    def test_binary_files_are_restored_but_not_shown(self, work: Work) -> None:
        (work.root / "a").write_bytes(b"\0\1")
        work.write(1, "a", b"text")
        plan = work.checkpoints.undo()
        assert plan is not None and plan.diffs[0].after == "(2 bytes that are no text)\n"
        work.checkpoints.carry_out(plan)
        assert (work.root / "a").read_bytes() == b"\0\1"


class TestLimits:
    def test_the_oldest_go(self, tmp_path: Path) -> None:
        work = Work(tmp_path, most_bytes=2_500)
        (work.root / "a").write_bytes(b"0" * 1_000)
        for message in range(1, 6):
            work.write(message, "a", b"%d" % message * 1_000)
        assert sum(path.stat().st_size for path in (work.store / "blobs").iterdir()) <= 2_500
        assert work.checkpoints.lost == 3
        with pytest.raises(NotRestored, match="before message 4 are"):
            work.checkpoints.restore(2)
        assert work.undo() and work.undo() and not work.undo()
        assert (work.root / "a").read_bytes() == b"3" * 1_000

    def test_what_cannot_be_kept_is_not_changed(self, tmp_path: Path) -> None:
        work = Work(tmp_path, most_bytes=100)
        (work.root / "a").write_bytes(b"0" * 101)
        with pytest.raises(NotKept, match="a was not changed"):
            work.write(1, "a", b"")
        assert (work.root / "a").read_bytes() == b"0" * 101

    def test_a_folder_is_no_file(self, work: Work) -> None:
        (work.root / "x").mkdir()
        with pytest.raises(NotKept):
            work.write(1, "x", b"")

    def test_a_store_that_cannot_be_written(self, work: Work) -> None:
        work.store.write_bytes(b"in the way")
        with pytest.raises(NotKept, match="could not be kept"):
            work.write(1, "a", b"")
        assert work.tree() == {}

    @posix
    def test_what_a_command_leaves_in_place_of_files_keeps_nothing_from_the_others(
        self, work: Work
    ) -> None:
        for name in ("large", "folder", "a"):
            work.write(1, name, b"written")
        os.truncate(work.root / "large", 10**12)
        (work.root / "folder").unlink()
        (work.root / "folder").mkdir()
        (work.root / "a").write_bytes(b"by a command")
        work.checkpoints.settle()
        with pytest.raises(NotRestored, match="large cannot be restored: it has more than 1 MB"):
            work.undo()
        (work.root / "large").write_bytes(b"cut")
        (work.root / "folder").rmdir()
        plan = work.checkpoints.undo()
        assert plan is not None and set(plan.foreign) == {"large"}
        work.checkpoints.carry_out(plan, replace_foreign=True)
        assert work.tree() == {}

    def test_damaged_records_are_passed_over(self, work: Work) -> None:
        work.write(1, "a", b"1")
        work.write(2, "a", b"2")
        (work.store / "turns" / "00000002.json").write_bytes(b"{")
        work.reopen()
        plan = work.checkpoints.undo()
        assert plan is not None and plan.messages == (1,) and plan.foreign == ("a",)

    def test_a_damaged_content_is_not_restored(self, work: Work) -> None:
        (work.root / "a").write_bytes(b"one")
        work.write(1, "a", b"two")
        for blob in (work.store / "blobs").iterdir():
            blob.write_bytes(b"else")
        with pytest.raises(NotRestored, match="damaged"):
            work.undo()
        assert (work.root / "a").read_bytes() == b"two"


KILLED = """
import os, signal, sys
from pathlib import Path
from gemma_local.app.agent.checkpoints import Checkpoints
from gemma_local.app.agent.files.open_folder import OpenFolder
from tests.app.agent.checked_work import Work
store, path, when = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
checkpoints = Checkpoints(store)
checkpoints.begin(1)
checkpoints.keep(path, b"new")
if when == "before":
    os.kill(os.getpid(), signal.SIGKILL)
with OpenFolder(path.parent) as folder:
    folder.write(path.name, b"new")
os.kill(os.getpid(), signal.SIGKILL)
"""


@posix
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_kill_loses_nothing(work: Work, when: str) -> None:
    path = work.root / "a"
    path.write_bytes(b"old")
    command = [sys.executable, "-c", KILLED, str(work.store), str(path), when]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert path.read_bytes() == (b"old" if when == "before" else b"new")
    plan = work.checkpoints.undo()
    assert plan is not None and plan.foreign == ()
    work.checkpoints.carry_out(plan)
    assert path.read_bytes() == b"old"


NAMES = st.sampled_from(["a", "b", "x/a", "x/y/a", "x/y/b", "z/a"])
CONTENTS = st.binary(max_size=4)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["write", "write", "run", "next", "undo", "redo", "reopen"]),
        NAMES,
        st.one_of(CONTENTS, CONTENTS, st.none()),
    ),
    max_size=15,
)


@settings(deadline=None, max_examples=40)
@given(st.dictionaries(NAMES, CONTENTS, max_size=4), STEPS)
def test_undoing_all_and_redoing_all(
    first: dict[str, bytes], steps: list[tuple[str, str, bytes | None]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        work = Work(Path(folder))
        for name, data in first.items():
            (work.root / name).parent.mkdir(parents=True, exist_ok=True)
            (work.root / name).write_bytes(data)
        before, message = work.tree(), 1
        for kind, name, content in steps:
            match kind:
                case "write":
                    work.write(message, name, content or b"")
                case "run":
                    work.run(message, name, content)
                case "next":
                    message += 1
                case "undo":
                    work.undo()
                    message += 1
                case "redo":
                    work.redo()
                    message += 1
                case _:
                    work.reopen()
        while work.redo():
            pass
        after = work.tree()
        while work.undo():
            pass
        assert work.tree() == before
        while work.redo():
            pass
        # Folders in which nothing is left are not made again.
        assert _files(work) == {
            name: found for name, found in after.items() if found[1] is not None
        }


def _files(work: Work) -> dict[str, tuple[int, bytes | None]]:
    return {name: found for name, found in work.tree().items() if found[1] is not None}

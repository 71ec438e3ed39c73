"""A conversation goes on while nothing can be written, and what it missed is written later."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gemma_local.app.saved_record import SavedRecord
from gemma_local.app.sessions import database as databases
from gemma_local.app.sessions.errors import SessionsUnavailable
from gemma_local.app.sessions.session import Session
from gemma_local.app.sessions.store import SessionStore
from gemma_local.models.message import Message

ONE, TWO = Message("user", "one"), Message("assistant", "two")


class Disk:
    """A store whose file another program may have locked."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.store = SessionStore.open(path)
        self.session: Session = self.store.create(Path("/srv/here"), "gemma", "")
        self.complaints: list[str] = []
        self.record = SavedRecord(self.session, 0, self.complaints.append)

    @contextmanager
    def locked(self) -> Iterator[None]:
        other = sqlite3.connect(self.path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            other.close()

    def kept(self) -> list[str]:
        """What is on the disk."""
        with SessionStore.open(self.path) as store:
            return [entry.message.text for entry in store.entries(self.session.id)]


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    monkeypatch.setattr(databases, "BUSY_SECONDS", 0.05)
    found = Disk(tmp_path / "sessions.sqlite3")
    with found.store:
        yield found


def test_a_message_that_could_not_be_written_comes_before_its_answer(disk: Disk) -> None:
    with disk.locked():
        asked = disk.record.append(ONE, info={"x": 1})
        stream = disk.record.stream()
        stream.write(Message("assistant", "t"))
    answered = stream.finish(TWO, finish="stop", report={"y": 2})
    assert (asked.number, answered.number) == (1, 2)
    assert disk.kept() == ["one", "two"]
    first, second = disk.session.entries()
    assert (first.info, second.finish, second.report) == ({"x": 1}, "stop", {"y": 2})
    (complaint,) = disk.complaints
    assert "not being saved now" in complaint


def test_an_answer_that_could_not_be_written_is_whole_later(disk: Disk) -> None:
    disk.record.append(ONE)
    stream = disk.record.stream()
    stream.write(Message("assistant", "t"))
    with disk.locked():
        answered = stream.finish(TWO)
        later = disk.record.append(Message("user", "three"))
    stream = disk.record.stream()
    stream.write(Message("assistant", "f"))
    last = stream.finish(Message("assistant", "four"))
    assert [answered.number, later.number, last.number] == [2, 3, 4]
    assert disk.kept() == ["one", "two", "three", "four"]
    assert [entry.state for entry in disk.session.entries()] == ["complete"] * 4
    assert len(disk.complaints) == 1


def test_what_waits_is_written_at_the_end(disk: Disk) -> None:
    with disk.locked():
        disk.record.append(ONE)
        disk.record.stream().finish(TWO)
        disk.record.amend(1, dropped=True)
    disk.record.close()
    assert disk.kept() == ["one", "two"]
    assert len(disk.complaints) == 1


def test_what_cannot_be_written_at_the_end_is_said(disk: Disk) -> None:
    disk.record.append(ONE)
    stream = disk.record.stream()
    stream.write(TWO)
    with disk.locked():
        stream.write(Message("assistant", "two, and more"))
        disk.record.close()
    assert "What was said last is not saved" in disk.complaints[-1]
    # Others may go on with it.
    with disk.store.resume(disk.session.id) as session:
        assert session.id == disk.session.id


def test_a_branch_that_could_not_be_written_leaves_nothing(disk: Disk) -> None:
    disk.record.append(ONE)
    with disk.locked(), pytest.raises(SessionsUnavailable, match="locked"):
        disk.store.branch(disk.session.id)
    disk.record.close()
    assert [info.id for info in disk.store.list()] == [disk.session.id]
    assert list(disk.path.with_suffix(".locks").iterdir()) == []

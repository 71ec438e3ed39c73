"""The lock of a session: one holder, whatever happens between two of its steps."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gemma_local.app.sessions import lock as locks
from gemma_local.app.sessions.lock import SessionLock

posix = pytest.mark.skipif(sys.platform == "win32", reason="there the file stays")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "locks" / "session"


def test_it_is_held_until_it_is_given_back(path: Path) -> None:
    one, other = SessionLock(path), SessionLock(path)
    assert not path.exists() and not one.may_be_held
    assert one.acquire() and path.exists()
    # Who has it, has it; and nobody else.
    assert one.acquire()
    assert not other.acquire()
    one.release()
    assert other.acquire() and not one.acquire()
    # What one does not hold it cannot give back.
    one.release()
    assert other.may_be_held and not one.acquire()
    other.release()
    assert not path.exists()


@posix
@pytest.mark.parametrize("is_taken", [True, False])
def test_a_file_that_was_taken_away_meanwhile_is_not_the_lock(
    path: Path, monkeypatch: pytest.MonkeyPatch, is_taken: bool
) -> None:
    """Between opening it and locking it, its holder gives it back, and somebody else may come."""
    holder, second, third = (SessionLock(path) for _ in range(3))
    assert holder.acquire()

    def first(does: Callable[[], object]) -> None:
        usual = locks._try_lock

        def try_lock(file: int) -> bool:
            monkeypatch.setattr(locks, "_try_lock", usual)
            does()
            return usual(file)

        monkeypatch.setattr(locks, "_try_lock", try_lock)

    def change_hands() -> None:
        holder.release()
        if is_taken:
            assert third.acquire()

    first(change_hands)
    assert second.acquire() is not is_taken
    # Whoever has it holds the file that has the name.
    assert not holder.acquire()
    (third if is_taken else second).release()
    assert not path.exists()
    assert holder.acquire()
    holder.release()

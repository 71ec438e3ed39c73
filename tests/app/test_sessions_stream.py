"""An answer is on the disk while it comes, however it ends."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gemma_local.app.sessions.session import Session
from gemma_local.app.sessions.store import SessionStore
from gemma_local.models.message import Message
from tests.app.saved_sessions import begin, texts_of
from tests.waiting import until


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "sessions.sqlite3"


@pytest.fixture
def store(path: Path) -> Iterator[SessionStore]:
    with SessionStore.open(path) as store:
        yield store


def test_a_streamed_answer_is_there_at_once_and_complete_at_its_end(
    store: SessionStore, path: Path
) -> None:
    session = begin(store, "one")
    stream = session.stream()
    stream.write(Message("assistant", "a"))
    (piece,) = session.entries()[1:]
    assert (piece.message.text, piece.state, piece.number) == ("a", "partial", 2)
    with SessionStore.open(path) as other:
        # It is somebody's, so it is left alone.
        assert other.entries(session.id)[1].state == "partial"
    entry = stream.finish(Message("assistant", "abc"), finish="stop", report={"x": 1}, tokens=3)
    assert stream.finish(Message("assistant", "again")) == entry
    assert stream.stop() == entry
    with pytest.raises(ValueError, match="ended"):
        stream.write(Message("assistant", "abcd"))
    assert session.entries()[1] == entry
    assert (entry.number, entry.state, entry.finish) == (2, "complete", "stop")


def test_what_came_in_between_is_written_although_nothing_follows(store: SessionStore) -> None:
    session = begin(store, "one")
    stream = session.stream()
    for text in ("a", "ab", "abc"):
        stream.write(Message("assistant", text))
    assert texts_of(store, session.id) == ["one", "a"]
    until(lambda: texts_of(store, session.id) == ["one", "abc"])
    session.close()
    assert [entry.state for entry in store.entries(session.id)] == ["complete", "stopped"]


@pytest.mark.parametrize("end", ["stop", "append", "stream", "close"])
def test_an_answer_that_is_left_is_kept_as_stopped(store: SessionStore, end: str) -> None:
    session = begin(store, "one")
    stream = session.stream()
    for text in ("a", "ab"):
        stream.write(Message("assistant", text))
    match end:
        case "stop":
            entry = stream.stop(finish="cancelled")
            assert entry is not None and entry.finish == "cancelled"
        case "append":
            session.append(Message("user", "two"))
        case "stream":
            session.stream()
        case "close":
            session.close()
    entry = store.entries(session.id)[1]
    assert (entry.message.text, entry.state) == ("ab", "stopped")
    assert store.search("ab")[0].number == 2


def test_an_answer_of_which_nothing_came_is_none(store: SessionStore) -> None:
    session = begin(store, "one")
    assert session.stream().stop() is None
    assert session.stream().finish(Message("assistant", "all at once")).number == 2


def test_a_piece_is_written_at_most_every_so_often(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("gemma_local.app.sessions.stream.time.monotonic", lambda: now[0])
    session = begin(store, "one")
    stream = session.stream()
    found = []
    for step in range(10):
        stream.write(Message("assistant", str(step)))
        found.append(texts_of(store, session.id)[1])
        now[0] += 0.15
    assert found == ["0", "0", "0", "3", "3", "3", "6", "6", "6", "9"]
    session.close()


def test_a_cut_off_answer_is_taken_over(path: Path) -> None:
    first = SessionStore.open(path)
    session = begin(first, "one")
    session.stream().write(Message("assistant", "so far"))
    # What a killed process leaves: the row as it is, no lock.
    session._lock.release()
    first.close()
    with SessionStore.open(path) as store:
        entry = store.entries(session.id)[1]
        assert (entry.message.text, entry.state) == ("so far", "stopped")
        assert store.search("so far")[0].number == 2


def test_threads_share_a_store(store: SessionStore) -> None:
    def write(session: Session) -> None:
        for number in range(10):
            stream = session.stream()
            stream.write(Message("assistant", f"{number}"))
            with session.together():
                stream.finish(Message("assistant", f"{number}"))

    sessions = [begin(store) for _ in range(4)]
    threads = [threading.Thread(target=write, args=(session,)) for session in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for session in sessions:
        assert texts_of(store, session.id) == [str(number) for number in range(10)]

"""What a store and an open session promise."""

from __future__ import annotations

import sqlite3
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from gemma_local.app.sessions.database import Database
from gemma_local.app.sessions.errors import NoSuchSession, SessionInUse, SessionsUnavailable
from gemma_local.app.sessions.store import SessionStore
from gemma_local.models.message import Message, Spoken, ToolCall
from tests.app.saved_sessions import HERE, begin, saved, texts_of

USER = Message("user", "What is EAGAIN?")
CALLS = Message("assistant", "I look.", calls=(ToolCall("read", {"path": "a"}), ToolCall("list")))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "sessions.sqlite3"


@pytest.fixture
def store(path: Path) -> Iterator[SessionStore]:
    with SessionStore.open(path) as store:
        yield store


def test_a_session_without_messages_leaves_nothing(store: SessionStore) -> None:
    with begin(store) as session:
        session.set_title("mine")
        session.describe(model="other")
        assert session.info.title == "mine"
        assert session.entries() == []
    assert store.list() == []


def test_the_first_message_brings_a_session_into_being(store: SessionStore) -> None:
    with begin(store) as session:
        entry = session.append(USER, tokens=5, report={"a": 1.5}, info={"b": [1]}, finish="x")
        info = session.info
    assert (entry.number, entry.state, entry.kind) == (1, "complete", "message")
    assert store.list() == [info]
    assert (info.title, info.folder, info.model) == ("What is EAGAIN?", HERE, "gemma")
    assert (info.messages, info.parent, info.settings) == (1, None, {"system": "Be brief."})
    assert info.created <= entry.at <= info.updated <= info.created + timedelta(minutes=1)
    assert store.entries(info.id) == [entry]


def test_what_is_on_disk_needs_no_closing(store: SessionStore, path: Path) -> None:
    session = begin(store, "one", "two")
    with SessionStore.open(path) as other:
        assert texts_of(other, session.id) == ["one", "two"]


def test_a_session_goes_on_where_it_was(store: SessionStore) -> None:
    id_ = saved(store, "one")
    with store.resume(id_) as session:
        assert session.info.settings == {"system": "Be brief."}
        assert session.append(Message("user", "two")).number == 2
    assert texts_of(store, id_) == ["one", "two"]


def test_one_writer_at_a_time(store: SessionStore, path: Path) -> None:
    session = begin(store, "one")
    with SessionStore.open(path) as other:
        assert other.is_open(session.id)
        with pytest.raises(SessionInUse, match=f"sessions branch {session.id}"):
            other.resume(session.id)
        with pytest.raises(SessionInUse):
            other.delete(session.id)
        # It can be looked at, branched and renamed all the same.
        with other.branch(session.id) as branch:
            assert len(branch.entries()) == 1
        other.rename(session.id, "renamed")
        assert session.info.title == "renamed"
        session.close()
        with other.resume(session.id) as resumed:
            resumed.append(Message("user", "two"))
    assert list(path.with_suffix(".locks").iterdir()) == []


def test_what_is_not_there_is_not_held(store: SessionStore, path: Path) -> None:
    with pytest.raises(NoSuchSession, match="zzz"):
        store.resume("zzz")
    assert list(path.with_suffix(".locks").iterdir()) == []


def test_a_lock_that_cannot_be_made_is_said(store: SessionStore, path: Path) -> None:
    id_ = saved(store, "one")
    path.with_suffix(".locks").rmdir()
    path.with_suffix(".locks").touch()
    with pytest.raises(SessionsUnavailable, match=f"session {id_} cannot be opened for writing"):
        store.resume(id_)
    assert texts_of(store, id_) == ["one"]


def test_settings_and_model_may_change(store: SessionStore) -> None:
    id_ = saved(store, "one")
    with store.resume(id_) as session:
        session.describe(model="gemma\n2", settings={"thinking": True})
        session.describe(tokenizer="other")
    info = store.find(id_)
    assert (info.model, info.tokenizer) == ("gemma 2", "other")
    assert info.settings == {"thinking": True}


def test_spoken_tokens_are_of_use_with_their_own_vocabulary_only(store: SessionStore) -> None:
    said = Message("assistant", "yes", spoken=Spoken((1, 2)))
    with begin(store) as session:
        session.append(said, tokens=2)
        session.describe(tokenizer="other")
        session.append(said, tokens=3)
        session.amend(1, stand_in=said)
        assert [entry.message.spoken for entry in session.entries()] == [said.spoken, said.spoken]
        old, new = session.entries(tokenizer="other")
    assert old.message.spoken is None and old.tokens is None
    assert old.stand_in == Message("assistant", "yes")
    assert new.message == said and new.tokens == 3


def test_amending_leaves_what_was_said(store: SessionStore) -> None:
    with begin(store, "one", "two") as session:
        stub = Message("tool", "[dropped]")
        session.amend(1, stand_in=stub, tokens=9)
        session.amend(2, dropped=True)
        session.amend(2)
        first, second = session.entries()
        assert (first.message.text, first.stand_in, first.tokens) == ("one", stub, 9)
        assert (second.message.text, second.stand_in, second.dropped) == ("two", None, True)
        session.amend(1, stand_in=None, tokens=None)
        session.amend(2, dropped=False)
        assert [(e.stand_in, e.tokens, e.dropped) for e in session.entries()] == [
            (None, None, False)
        ] * 2
        with pytest.raises(ValueError, match="no entry 3"):
            session.amend(3, dropped=True)


def test_together_is_all_or_nothing(store: SessionStore) -> None:
    with begin(store, "one") as session:
        with suppress(InterruptedError), session.together():
            session.amend(1, dropped=True)
            session.append(Message("user", "summary"), kind="summary")
            raise InterruptedError
        (entry,) = session.entries()
        assert not entry.dropped
        with session.together():
            session.amend(1, dropped=True)
            session.append(Message("user", "summary"), kind="summary")
        assert [(e.number, e.kind, e.dropped) for e in session.entries()] == [
            (1, "message", True),
            (2, "summary", False),
        ]
        assert session.info.messages == 1


def test_calls_without_results_are_marked_until_they_have_them(store: SessionStore) -> None:
    with begin(store) as session:
        session.append(CALLS, info={"own": 1})
        assert session.entries()[0].info == {"own": 1, "unanswered": 2}
        session.append(Message("tool", "x", tool="read"))
        assert session.entries()[0].info == {"own": 1, "unanswered": 1}
        session.append(Message("user", "stop"))
        session.append(Message("tool", "x", tool="list"))
        assert session.entries()[0].info == {"own": 1, "unanswered": 1}
        session.append(CALLS)
        session.append(Message("tool", "x", tool="read"))
        session.append(Message("tool", "x", tool="list"))
        assert session.entries()[4].info == {}


def test_a_branch_has_copies_up_to_a_message(store: SessionStore) -> None:
    session = begin(store, "one", "two", "three")
    session.amend(1, dropped=True, stand_in=USER)
    with store.branch(session.id, 2) as branch:
        info = branch.info
        assert (info.parent, info.branch_point, info.messages) == (session.id, 2, 2)
        assert (info.title, info.folder) == ("one (branch)", HERE)
        assert branch.entries() == session.entries()[:2]
        branch.append(Message("user", "else"))
    assert texts_of(store, session.id) == ["one", "two", "three"]
    assert texts_of(store, info.id) == ["one", "two", "else"]
    session.stream().write(Message("assistant", "so far"))
    with store.branch(session.id) as whole:
        assert [e.state for e in whole.entries()] == [*["complete"] * 3, "stopped"]
    assert session.entries()[3].state == "partial"
    for point in (0, 5):
        with pytest.raises(NoSuchSession, match="1 to 4"):
            store.branch(session.id, point)
    with pytest.raises(NoSuchSession):
        store.branch("00000000")


def test_deleted_text_is_gone_from_the_file(store: SessionStore, path: Path) -> None:
    secret = "the password is Xyzzy-Plugh"
    kept = saved(store, "kept")
    id_ = saved(store, *[f"{secret} {n} " + "z" * 5000 for n in range(30)])
    before = path.stat().st_size
    assert store.search("plugh")
    store.delete(id_)
    assert [info.id for info in store.list()] == [kept]
    assert not store.search("plugh") and not store.entries(id_)
    files = [name for name in path.parent.iterdir() if name.is_file()]
    content = b"".join(name.read_bytes() for name in files).lower()
    # Trigrams of the index are "plu", "lug", ...
    assert b"xyzzy" not in content and b"lug" not in content
    assert path.stat().st_size < max(before, 200_000)
    store.delete("00000000")


def test_deleting_is_all_or_nothing(store: SessionStore) -> None:
    one, two = saved(store, "one"), begin(store, "two")
    with pytest.raises(SessionInUse, match=two.id):
        store.delete(one, two.id)
    assert len(store.list()) == 2
    assert not store.is_open(one)


@pytest.mark.skipif(sys.platform == "win32", reason="other permissions there")
def test_only_the_owner_can_read_it(store: SessionStore, path: Path) -> None:
    begin(store, "one")
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    files = [name for name in path.parent.iterdir() if name.is_file()]
    assert len(files) == 3
    assert {stat.S_IMODE(name.stat().st_mode) for name in files} == {0o600}


def test_entries_are_synced_and_pieces_are_not(path: Path) -> None:
    database = Database(path)
    with database.write(durable=False) as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (1,)
    with database.write() as connection, database.write(durable=False) as inner:
        assert connection is inner
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    database.close()


def test_a_store_that_is_closed_is_no_bad_luck(path: Path) -> None:
    database = Database(path)
    database.close()
    with pytest.raises(sqlite3.ProgrammingError):
        database.read("SELECT 1")

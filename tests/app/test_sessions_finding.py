"""Sessions are found by what a person remembers of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gemma_local.app.sessions.errors import NoSuchSession
from gemma_local.app.sessions.identifier import ALPHABET, LENGTH, as_typed, is_id, new_id
from gemma_local.app.sessions.store import SessionStore
from gemma_local.models.message import Message
from tests.app.saved_sessions import HERE, saved

USER = Message("user", "What is EAGAIN?")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "sessions.sqlite3"


@pytest.fixture
def store(path: Path) -> Iterator[SessionStore]:
    with SessionStore.open(path) as store:
        yield store


def test_sessions_are_listed_by_folder_the_last_used_first(store: SessionStore) -> None:
    one, two = saved(store, "one"), saved(store, "two")
    elsewhere = saved(store, "three", folder=Path("/srv/\udcff"))
    with store.resume(one) as session:
        session.append(USER)
    assert [info.id for info in store.list()] == [one, elsewhere, two]
    assert [info.id for info in store.list(HERE)] == [one, two]
    assert [info.id for info in store.list(limit=1)] == [one]
    latest = store.latest(HERE), store.latest(Path("/srv/\udcff")), store.latest(Path("/"))
    assert [info and info.id for info in latest] == [one, elsewhere, None]


def test_a_session_is_found_by_id_beginning_and_title(store: SessionStore) -> None:
    id_ = saved(store, "First things first. Then more.")
    for name in (id_, id_.upper(), f" {id_}", id_[:-1], id_[:1], "First things first."):
        assert store.find(name).id == id_
    for name in ("", "First", "x" * 9, "\x1b[31m"):
        with pytest.raises(NoSuchSession, match="sessions list --all") as problem:
            store.find(name)
        assert "\x1b" not in str(problem.value)


def test_a_name_that_fits_several_is_refused_with_them(store: SessionStore) -> None:
    ids = [saved(store, "same") for _ in range(40)]
    beginning = next(id_[0] for id_ in ids if sum(i[0] == id_[0] for i in ids) > 1)
    with pytest.raises(NoSuchSession, match=f"begin with '{beginning}'.*give more of the id"):
        store.find(beginning)
    with pytest.raises(NoSuchSession, match=r"40 sessions have the title 'same' .*, …"):
        store.find("same")


def test_a_title_comes_before_the_beginning_of_an_id(store: SessionStore) -> None:
    id_, other = saved(store, "one"), saved(store, "two")
    store.rename(other, id_[:2])
    assert store.find(id_[:2]).id == other
    assert store.find(id_).id == id_


def test_titles_that_were_given_stay(store: SessionStore) -> None:
    id_ = saved(store, "one")
    assert store.rename(id_, " two\n\x1b lines ") == "two lines"
    with store.resume(id_) as session:
        session.append(Message("user", "three"))
        assert session.info.title == "two lines"
        session.set_title("")
        assert session.info.title == "untitled"


def test_ids_can_be_typed(store: SessionStore) -> None:
    assert len({new_id() for _ in range(1000)}) == 1000
    assert is_id(new_id()) and len(ALPHABET) == 32 and LENGTH == 8
    assert as_typed("O1iL") == "0111"
    assert [as_typed(name) for name in ("", "u", "a-b", "123456789")] == [None] * 4

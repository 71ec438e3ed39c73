"""Which session a conversation is kept in, and what is said where there is none."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from gemma_local.app import folders
from gemma_local.app.errors import UsageError
from gemma_local.app.options import AnswerOptions
from gemma_local.app.record import Unsaved
from gemma_local.app.saving import Saving
from gemma_local.app.sessions import database as databases
from gemma_local.app.sessions.errors import SessionsUnavailable
from gemma_local.app.sessions.store import SessionStore
from gemma_local.engine.messages import Ready
from gemma_local.models.message import Message
from tests.app.saved_sessions import saved
from tests.app.talking import talking
from tests.ggufs import Pair

posix = pytest.mark.skipif(sys.platform == "win32", reason="a folder in use stays there")


@pytest.fixture(scope="module")
def ready(story: Pair, tmp_path_factory: pytest.TempPathFactory) -> Ready:
    with talking(story, tmp_path_factory.mktemp("engine")) as talk:
        assert talk.engine.ready is not None
        return talk.engine.ready


@pytest.fixture
def complaints() -> list[str]:
    return []


@pytest.fixture
def store(home: Path) -> Iterator[SessionStore]:
    """The person's own sessions."""
    with SessionStore.open() as store:
        yield store


def test_where_nothing_is_saved_there_is_no_other_conversation(
    home: Path, ready: Ready, complaints: list[str]
) -> None:
    with closing(Saving(AnswerOptions(save=False), complaints.append)) as saving:
        assert not saving.keeps and saving.store is None
        assert isinstance(saving.open(ready, system="Be brief.").record, Unsaved)
        with pytest.raises(SessionsUnavailable, match="nothing is saved here"):
            saving.open_old("a", ready)
        with pytest.raises(SessionsUnavailable, match="nothing is saved here"):
            saving.open_branch("a", 1, ready)
    assert complaints == [] and not folders.sessions_path().exists()


def test_a_session_that_cannot_be_begun_stops_nobody_from_talking(
    store: SessionStore, ready: Ready, complaints: list[str]
) -> None:
    folders.sessions_path().with_suffix(".locks").touch()
    with closing(Saving(AnswerOptions(), complaints.append)) as saving:
        kept = saving.open(ready, system="Be brief.")
        assert (kept.label, kept.system) == ("", "Be brief.")
        assert kept.record.append(Message("user", "hello")).number == 1
        kept.close()
    [told] = complaints
    assert "cannot be opened for writing" in told
    assert told.endswith(". The conversation is not being saved")
    assert store.list() == []


def test_a_session_that_cannot_be_gone_on_with_is_let_go_of(
    store: SessionStore, ready: Ready, monkeypatch: pytest.MonkeyPatch, complaints: list[str]
) -> None:
    monkeypatch.setattr(databases, "BUSY_SECONDS", 0.05)
    id_ = saved(store, "one")
    with closing(Saving(AnswerOptions(resume=id_), complaints.append)) as saving:
        with closing(sqlite3.connect(folders.sessions_path(), isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(SessionsUnavailable, match="locked"):
                saving.open(ready)
        assert not store.is_open(id_)
        kept = saving.open(ready, system="Be kind.")
        assert [entry.message.text for entry in kept.entries] == ["one"]
        # Said now counts, and stays.
        assert kept.system == "Be kind."
        kept.close()
        assert saving.open_old(id_, ready).system == "Be kind."


@posix
def test_in_a_folder_that_has_gone_nothing_is_gone_on_with(
    home: Path, ready: Ready, complaints: list[str]
) -> None:
    shutil.rmtree(Path.cwd())
    with pytest.raises(UsageError, match="no conversation was begun in this folder"):
        Saving(AnswerOptions(go_on=True), complaints.append)
    with closing(Saving(AnswerOptions(), complaints.append)) as saving:
        assert isinstance(saving.open(ready).record, Unsaved)
    [told] = complaints
    assert "No such file or directory" in told and "not being saved" in told

"""Files that cannot be used: a sentence each, nothing overwritten, and what can be saved is."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gemma_local.app.sessions import database as databases
from gemma_local.app.sessions.database import Database
from gemma_local.app.sessions.errors import SessionsDamaged, SessionsUnavailable
from gemma_local.app.sessions.repair import is_sound, repair
from gemma_local.app.sessions.schema import APPLICATION_ID, MIGRATIONS, check
from gemma_local.app.sessions.store import SessionStore
from gemma_local.models.message import Message

HERE = Path("/srv/here")
NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.sqlite3"


def fill(path: Path, sessions: int = 3, messages: int = 20) -> dict[str, list[str]]:
    """Sessions with some kB in each message; the texts by session."""
    said = {}
    with SessionStore.open(path) as store:
        for _ in range(sessions):
            with store.create(HERE, "gemma", "") as session:
                texts = [f"message {n} of {session.id} " * 60 for n in range(messages)]
                for text in texts:
                    session.append(Message("user", text))
                said[session.id] = texts
    return said


def refusal(path: Path) -> SessionsUnavailable:
    """Why the file is not opened; and it is left as it is."""
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(SessionsUnavailable) as problem:
        SessionStore.open(path)
    assert str(path) in str(problem.value) and "\n" not in str(problem.value)
    assert (path.read_bytes() if path.is_file() else None) == before
    return problem.value


@contextmanager
def unlike(path: Path, sql: str) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(sql)
        yield connection


# ------------------------------------------------------------------------- files of other kinds


def test_a_file_of_a_newer_version_is_refused(path: Path) -> None:
    fill(path, 1, 1)
    with unlike(path, f"PRAGMA user_version = {len(MIGRATIONS) + 1}"):
        pass
    assert "newer gemma-local" in str(refusal(path))


def test_a_file_that_another_process_makes_in_that_moment_is_ours(path: Path) -> None:
    def make(statement: str) -> None:
        if "sqlite_master" in statement and not made:
            made.append(statement)
            # It waits for whoever reads, and is not waited for here.
            with suppress(SessionsUnavailable):
                SessionStore.open(path).close()

    made: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(databases, "BUSY_SECONDS", 0.05)
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.set_trace_callback(make)
            assert check(connection, "file") == 0
    assert made


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE bookmarks (url TEXT)",
        "PRAGMA application_id = 42; CREATE TABLE x (y)",
        "CREATE TABLE sessions (id TEXT); PRAGMA user_version = 1",
    ],
)
def test_a_database_of_another_program_is_left_alone(path: Path, sql: str) -> None:
    with unlike(path, sql):
        pass
    problem = refusal(path)
    assert "another program" in str(problem) and not isinstance(problem, SessionsDamaged)
    with pytest.raises(SessionsUnavailable, match="another program"):
        is_sound(path)


@pytest.mark.parametrize("content", [b"x" * 5000, b"SQLite format 3\0" + b"\xff" * 5000])
def test_what_is_no_database_is_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert "sessions repair" in str(refusal(path))
    assert not is_sound(path)


def test_a_folder_in_its_place(path: Path) -> None:
    path.mkdir()
    assert "cannot be opened" in str(refusal(path))


def test_a_file_in_place_of_its_folder(path: Path) -> None:
    path.write_text("x")
    assert "see whether the file and its folder" in str(refusal(path / "sessions.sqlite3"))


def test_an_empty_file_is_a_new_one(path: Path) -> None:
    path.touch()
    assert fill(path, 1, 1)
    with unlike(path, "") as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)


# --------------------------------------------------------------------- disks that don't cooperate


def test_a_locked_file_is_said_and_the_next_attempt_succeeds(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "BUSY_SECONDS", 0.05)
    with SessionStore.open(path) as store, store.create(HERE, "gemma", "") as session:
        session.append(Message("user", "one"))
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            stream = session.stream()
            for write in (
                lambda: stream.write(Message("assistant", "two")),
                lambda: stream.finish(Message("assistant", "two")),
                lambda: session.append(Message("user", "three")),
                lambda: session.set_title("x"),
            ):
                with pytest.raises(SessionsUnavailable, match="locked by another program"):
                    write()
        assert stream.finish(Message("assistant", "two")).number == 2
        assert session.append(Message("user", "three")).number == 3
        assert [entry.message.text for entry in session.entries()] == ["one", "two", "three"]


def test_a_problem_of_the_timer_is_raised_where_somebody_listens(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "BUSY_SECONDS", 0.05)
    with SessionStore.open(path) as store, store.create(HERE, "gemma", "") as session:
        stream = session.stream()
        stream.write(Message("assistant", "a"))
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            stream.write(Message("assistant", "ab"))
            timer = stream._timer
            assert timer is not None
            timer.join()
        with pytest.raises(SessionsUnavailable, match="locked"):
            stream.write(Message("assistant", "abc"))
        stream.write(Message("assistant", "abcd"))
        entry = stream.stop()
        assert entry is not None and entry.message.text == "abcd"


def test_a_full_database_is_said_and_loses_nothing(path: Path) -> None:
    database = Database(path)
    store = SessionStore(database)
    with database.write() as connection:
        connection.execute("PRAGMA max_page_count = 60")
    kept = []
    with store, store.create(HERE, "gemma", "") as session:
        problem = None
        for number in range(1000):
            try:
                session.append(Message("user", f"message {number} " * 100))
            except SessionsUnavailable as error:
                problem = str(error)
                break
            kept.append(number)
        assert problem is not None and "no room left" in problem
        assert [entry.number - 1 for entry in session.entries()] == kept != []
        with database.write() as connection:
            connection.execute("PRAGMA max_page_count = 1000000")
        assert session.append(Message("user", "again")).number == len(kept) + 1
    assert is_sound(path)


@pytest.mark.skipif(sys.platform == "win32", reason="other permissions there")
def test_a_file_that_may_not_be_written() -> None:
    script = """
        import os, sys
        from pathlib import Path
        from gemma_local.app.sessions.errors import SessionsUnavailable
        from gemma_local.app.sessions.store import SessionStore
        from gemma_local.models.message import Message

        os.chdir(sys.argv[1])
        paths = [Path(name, "sessions.sqlite3") for name in ("file", "folder", "new")]
        for path in paths[:2]:
            with SessionStore.open(path) as store, store.create(Path("/"), "", "") as session:
                session.append(Message("user", "one"))
        paths[2].parent.mkdir()
        paths[0].chmod(0o444)
        for path in paths[1:]:
            path.parent.chmod(0o555)
        if os.geteuid() == 0:  # root may write everything
            for path in [Path(), *Path().rglob("*")]:
                os.chown(path, 65534, -1)
            os.seteuid(65534)
        for path in paths:
            try:
                with SessionStore.open(path) as store:
                    print("opened", len(store.list()))
                    with store.create(Path("/"), "", "") as session:
                        session.append(Message("user", "two"))
            except SessionsUnavailable as error:
                print(error)
        for path in paths:
            path.parent.chmod(0o755)  # so that it can be deleted
    """
    # Not in tmp_path, which lies in a folder that is its owner's alone.
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-c", textwrap.dedent(script), folder]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
    opened, file, closed, new = done.stdout.splitlines()
    assert opened == "opened 1"
    assert "may not be written" in file and "may not be written" in closed
    assert "cannot be opened" in new and "are yours and may be written" in new


# ------------------------------------------------------------------------------------ damage


def test_damage_is_said_and_what_can_be_read_is_saved(path: Path) -> None:
    said = fill(path)
    with closing(sqlite3.connect(path)) as connection:
        pages = connection.execute(
            "SELECT pageno FROM dbstat WHERE name = 'entries' AND pagetype = 'leaf' ORDER BY pageno"
        ).fetchall()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    (page,) = pages[len(pages) // 2]
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(random.Random(1).randbytes(size))
    damaged = path.read_bytes()
    with SessionStore.open(path) as store, pytest.raises(SessionsDamaged, match="repair"):
        [store.entries(info.id) for info in store.list()]
    assert not is_sound(path)

    done = repair(path, NOW)
    assert done.kept == path.with_name("sessions.sqlite3.damaged-20260304-050607")
    assert done.kept.read_bytes() == damaged
    names = {name.name for name in path.parent.iterdir()}
    assert names == {path.name, done.kept.name, "sessions.locks"}
    assert is_sound(path)
    found: dict[str, list[str]] = {}
    with SessionStore.open(path) as store:
        for info in store.list():
            found[info.id] = [entry.message.text for entry in store.entries(info.id)]
        assert store.search("message")
    # A page of entries is lost, and no more; nothing is there that was not said.
    lost = sum(len(texts) for texts in said.values()) - sum(map(len, found.values()))
    assert 1 <= lost <= 6 and done.entries == sum(map(len, found.values()))
    for id_, texts in found.items():
        assert [text for text in said[id_] if text in texts] == texts


def test_a_damaged_description_of_one_table_hides_no_other(path: Path) -> None:
    said = fill(path)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"CREATE TABLE facts", b"CREATE TAB\xccE facts"))
    assert "repair" in str(refusal(path))
    done = repair(path, NOW)
    with SessionStore.open(path) as store:
        assert {
            info.id: [entry.message.text for entry in store.entries(info.id)]
            for info in store.list()
        } == said
    assert done.entries == sum(map(len, said.values()))


def test_a_session_whose_own_row_is_lost_gets_a_title(path: Path) -> None:
    said = fill(path, 1, 2)
    (id_,) = said
    with unlike(path, "PRAGMA writable_schema = ON; UPDATE sessions SET settings = 'broken'"):
        pass
    with SessionStore.open(path) as store, pytest.raises(SessionsDamaged):
        store.list()
    assert repair(path, NOW).sessions == 1
    with SessionStore.open(path) as store:
        (info,) = store.list()
        assert (info.id, info.messages, info.settings) == (id_, 2, {})
        assert info.title.startswith("message 0 of")


def test_repair_of_what_holds_nothing_begins_anew(path: Path) -> None:
    path.write_bytes(b"x" * 5000)
    done = repair(path, NOW)
    assert (done.sessions, done.entries) == (0, 0)
    assert done.kept.read_bytes() == b"x" * 5000
    assert fill(path, 1, 1)


def test_repair_waits_for_open_sessions(path: Path) -> None:
    with SessionStore.open(path) as store, store.create(HERE, "gemma", "") as session:
        session.append(Message("user", "one"))
        with pytest.raises(SessionsUnavailable, match=f"{session.id} is open"):
            repair(path, NOW)
    # What a killed process left of its lock stops nobody.
    (path.with_suffix(".locks") / "0000000k").touch()
    assert repair(path, NOW).sessions == 1


def test_a_damaged_index_of_the_search_is_made_anew(path: Path) -> None:
    said = fill(path, 1, 3)
    with unlike(path, "DELETE FROM words_data WHERE id > 10"):
        pass
    assert is_sound(path)
    with SessionStore.open(path) as store:
        assert [hit.session.id for hit in store.search("message")] == [*said] * 3


@pytest.mark.parametrize("keep", [0.0, 0.3, 0.9])
def test_a_file_that_was_cut_off(path: Path, keep: float) -> None:
    fill(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * keep)])
    if keep == 0.0:
        assert fill(path, 1, 1)
        return
    assert not is_sound(path)
    done = repair(path, NOW)
    assert done.kept.stat().st_size == int(len(content) * keep)
    assert is_sound(path)


def test_bits_that_flip_never_end_in_a_traceback(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(7)
    # So that the file, too, is the same each time.
    monkeypatch.setattr("gemma_local.app.sessions.identifier.secrets.choice", chance.choice)
    monkeypatch.setattr("gemma_local.app.sessions.rows.now", lambda: NOW)
    fill(path)
    content = path.read_bytes()
    refused = 0
    for attempt in range(40):
        copy = tmp_path / f"{attempt}" / path.name
        copy.parent.mkdir()
        flipped = bytearray(content)
        for _ in range(30):
            flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
        copy.write_bytes(flipped)
        try:
            with SessionStore.open(copy) as store:
                for info in store.list():
                    store.entries(info.id)
                store.search("message")
        except SessionsUnavailable:
            refused += 1
            if not is_sound(copy):
                repair(copy, NOW)
                assert is_sound(copy)
        shutil.rmtree(copy.parent)
    assert refused

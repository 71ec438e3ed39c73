"""Real processes: killed at any moment, and several at once."""

from __future__ import annotations

import random
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gemma_local.app.sessions.store import SessionStore
from tests.app.session_writer import all_told, converse, fill_disk, start

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there, no fork")

KILLS = 50
AT_ONCE = 10
LATE_SECONDS = 0.8


def test_fifty_kills_lose_nothing_that_was_kept(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite3"
    chance = random.Random(4)
    cut_off = compared = 0
    for first in range(0, KILLS, AT_ONCE):
        writers = [start(converse, path, seed) for seed in range(first, first + AT_ONCE)]
        assert all(told.poll(30) for _, told in writers)
        begun = time.monotonic()
        moments = sorted(chance.uniform(0.05, 1.5) for _ in writers)
        for moment, (process, _) in zip(moments, writers, strict=True):
            time.sleep(max(0.0, begun + moment - time.monotonic()))
            process.kill()
        for process, _ in writers:
            process.join(10)
        _check_file(path)
        with SessionStore.open(path) as store:
            for _, told in writers:
                seconds = _check_session(store, all_told(told))
                cut_off += seconds > 0
                compared += seconds > LATE_SECONDS
    # Else they were not killed in the middle of answers, or of none that was long enough.
    assert cut_off >= KILLS // 5 and compared >= 3


def _check_file(path: Path) -> None:
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    connection.close()


def _check_session(store: SessionStore, told: list[tuple[Any, ...]]) -> float:
    """Compare what a process said it had done with what is there; for how many seconds it had been
    answering when it was killed, 0 if it was not."""
    if not told:
        return 0.0
    session = told[0][1]
    entries = {entry.number: entry for entry in store.entries(session)}
    kept = [number for what, number, *_ in told if what == "kept"]
    assert kept == list(range(1, len(kept) + 1))
    for what, number, text in told[1:]:
        if what == "kept":
            assert entries[number].message.text == text
            assert entries[number].state == "complete"
    # One more may have been written before the process could say so.
    assert len(kept) <= len(entries) <= len(kept) + 1
    assert all(entry.state != "partial" for entry in entries.values())
    shown: list[list[Any]] = []
    for what, *rest in told:
        shown = [*shown, rest] if what == "shown" else []
    if not shown:
        return 0.0
    last = shown[-1][0]
    saved = entries[len(kept) + 1].message.text
    late = sum(at > last - LATE_SECONDS for at, _ in shown[1:])
    assert saved.startswith("".join(word for _, word in shown[: len(shown) - late]))
    return float(last - shown[0][0])


def test_processes_write_at_once_and_see_each_other(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite3"
    # The file does not exist yet: they also make it at once.
    writers = [start(converse, path, seed) for seed in range(3)]
    told: list[list[Any]] = [[] for _ in writers]
    while any(sum(what == "kept" for what, *_ in said) < 6 for said in told):
        for said, (_, pipe) in zip(told, writers, strict=True):
            said.append(pipe.recv())
    with SessionStore.open(path) as store:
        ids = {said[0][1] for said in told}
        assert {info.id for info in store.list()} == ids and len(ids) == len(writers)
        assert all(store.is_open(id_) for id_ in ids)
        for process, _ in writers:
            process.kill()
            process.join(10)
        assert not any(store.is_open(id_) for id_ in ids)
        for said in told:
            texts = [entry.message.text for entry in store.entries(said[0][1])]
            kept = [text for what, _, text in said[1:] if what == "kept"]
            assert texts[: len(kept)] == kept


def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite3"
    process, told = start(fill_disk, path, 1_500_000)
    said = all_told(told)
    process.join(10)
    (sentence,) = [text for what, text in said if what == "error"]
    assert "full" in sentence and str(path) in sentence
    kept = [text for what, text in said if what == "kept"]
    assert len(kept) > 10 and kept[-1] == "there is room again"
    _check_file(path)
    with SessionStore.open(path) as store:
        (info,) = store.list()
        assert [entry.message.text for entry in store.entries(info.id)] == kept

"""Real processes: killed at any moment, and several at once."""

from __future__ import annotations

import random
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from gemma_local.app.sessions.store import SessionStore
from gemma_local.app.sessions.stream import INTERVAL
from tests.app.session_writer import all_told, converse, fill_disk, start
from tests.waiting import PATIENCE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there, no fork")

KILLS = 50
AT_ONCE = 10
LONGEST = 250
"""Words after which a process is killed, at most: some answers have 400."""


def test_fifty_kills_lose_nothing_that_was_kept(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite3"
    chance = random.Random(4)
    cut_off = compared = 0
    for first in range(0, KILLS, AT_ONCE):
        writers = [start(converse, path, seed) for seed in range(first, first + AT_ONCE)]
        moments = sorted(chance.randrange(LONGEST) for _ in writers)
        heard = []
        for moment, (process, told) in zip(moments, writers, strict=True):
            heard.append([told.recv() for _ in range(1 + moment)])
            process.kill()
        for process, _ in writers:
            process.join(PATIENCE)
        _check_file(path)
        with SessionStore.open(path) as store:
            for before, (_, told) in zip(heard, writers, strict=True):
                words, due = _check_session(store, before + all_told(told))
                cut_off += words > 0
                compared += due > 0
    # Else they were not killed in the middle of answers, or of none that was long enough.
    assert cut_off >= KILLS // 5 and compared >= 3


def _check_file(path: Path) -> None:
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    connection.close()


def _check_session(store: SessionStore, told: list[tuple[Any, ...]]) -> tuple[int, int]:
    """Compare what a process said it had done with what is there; how many words there were of the
    answer in which it was killed, and how many of them had to be on the disk."""
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
        return 0, 0
    # Whoever hands over a word writes all that there is if the last writing was begun INTERVAL ago.
    # So when the last word came, what had been handed over that long before it was on the disk,
    # however slow the machine is.
    (last, _), _ = shown[-1]
    due = [word for (_, ended), word in shown if ended < last - INTERVAL] or [shown[0][1]]
    saved = entries[len(kept) + 1].message.text
    assert saved.startswith("".join(due))
    return len(shown), len(due) - 1


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
            process.join(PATIENCE)
        assert not any(store.is_open(id_) for id_ in ids)
        for said in told:
            texts = [entry.message.text for entry in store.entries(said[0][1])]
            kept = [text for what, _, text in said[1:] if what == "kept"]
            assert texts[: len(kept)] == kept


def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite3"
    process, told = start(fill_disk, path, 1_500_000)
    said = all_told(told)
    process.join(PATIENCE)
    (sentence,) = [text for what, text in said if what == "error"]
    assert "full" in sentence and str(path) in sentence
    kept = [text for what, text in said if what == "kept"]
    assert len(kept) > 10 and kept[-1] == "there is room again"
    _check_file(path)
    with SessionStore.open(path) as store:
        (info,) = store.list()
        assert [entry.message.text for entry in store.entries(info.id)] == kept

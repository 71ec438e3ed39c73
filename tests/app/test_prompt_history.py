from __future__ import annotations

import multiprocessing
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.app.file_replacing import replace_file
from gemma_local.app.prompt_history import LONGEST, HistoryWalk, PromptHistory, containing
from gemma_local.app.sessions.lock import SessionLock
from gemma_local.app.written import Written, read_written
from tests.disk import full_disk
from tests.waiting import PATIENCE

FOLDER = Path("some") / "folder"


def texts(history: PromptHistory) -> list[str]:
    return [written.text for written in history.texts()]


def test_what_was_written_comes_back_in_order(tmp_path: Path) -> None:
    history = PromptHistory(tmp_path / "state", FOLDER)
    assert history.texts() == []
    pasted = Written("before\npasted\nafter", ((7, 14),))
    for written in (Written("one"), Written("two\nlines é😀\ud800"), pasted, Written("  ")):
        history.append(written)
    assert PromptHistory(tmp_path / "state", FOLDER).texts() == [
        Written("one"),
        Written("two\nlines é😀\ud800"),
        pasted,
    ]
    assert texts(PromptHistory(tmp_path / "state", FOLDER / "other")) == []


@pytest.mark.skipif(sys.platform == "win32", reason="no modes there")
def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    history = PromptHistory(tmp_path / "state", FOLDER)
    history.append(Written("secret"))
    assert stat.S_IMODE(history.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(history.path.parent.stat().st_mode) == 0o700


def test_none_is_kept_twice_in_a_row(tmp_path: Path) -> None:
    first, second = (PromptHistory(tmp_path, FOLDER) for _ in range(2))
    for history, text in ((first, "a"), (first, "a"), (second, "a"), (first, "b"), (first, "a")):
        history.append(Written(text))
    assert texts(first) == ["a", "b", "a"]
    assert first.path.read_bytes().count(b"\n") == 4


def test_damaged_lines_cost_themselves(tmp_path: Path) -> None:
    history = PromptHistory(tmp_path, FOLDER)
    history.append(Written("one"))
    with history.path.open("ab") as file:
        file.write(b'\xff\n{"text": 3}\n[]\n{"text": "x", "pastes": [[2, 1]]}\nnull\n{"text": "to')
    PromptHistory(tmp_path, FOLDER).append(Written("two"))
    assert texts(history) == ["one", "two"]


def test_only_the_newest_are_kept(tmp_path: Path) -> None:
    history = PromptHistory(tmp_path, FOLDER, kept=5)
    for number in range(25):
        history.append(Written(str(number)))
    assert texts(history) == ["20", "21", "22", "23", "24"]
    assert history.path.read_bytes().count(b"\n") == 5
    history.append(Written("x" * LONGEST))
    history.append(Written("25"))
    assert texts(history)[-2:] == ["24", "25"]
    assert [path for path in tmp_path.iterdir() if path != history.path] == []


@pytest.mark.parametrize("times", [1, 2, 3, 4])
def test_what_is_written_while_the_file_is_cut_down_stays_in_its_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """Another program appends each time just before the shorter file takes the name."""
    history, other = (PromptHistory(tmp_path, FOLDER, kept=5) for _ in range(2))
    for number in range(11):
        history.append(Written(str(number)))
    late = iter([f"late {number}" for number in range(times)])

    def replace_late(path: Path, content: bytes) -> None:
        if text := next(late, ""):
            other.append(Written(text))
        replace_file(path, content)

    monkeypatch.setattr("gemma_local.app.prompt_history.replace_file", replace_late)
    assert texts(history) == ["6", "7", "8", "9", "10"]
    # All of them are in the file that has the name now.
    found = texts(PromptHistory(tmp_path, FOLDER))
    assert found == ["6", "7", "8", "9", "10", *(f"late {number}" for number in range(times))]


def test_one_program_at_a_time_cuts_a_file_down(tmp_path: Path) -> None:
    history = PromptHistory(tmp_path, FOLDER, kept=5)
    for number in range(25):
        history.append(Written(str(number)))
    lock = SessionLock(history.path.with_suffix(".lock"))
    assert lock.acquire()
    assert texts(history) == ["20", "21", "22", "23", "24"]
    assert history.path.read_bytes().count(b"\n") == 25
    lock.release()
    texts(history)
    assert history.path.read_bytes().count(b"\n") == 5


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_a_full_disk_costs_the_text_that_it_cuts_off(tmp_path: Path) -> None:
    history = PromptHistory(tmp_path, FOLDER)
    history.append(Written("one"))
    size = history.path.stat().st_size
    with full_disk(size + 10), pytest.raises(OSError, match="could not be written to its end"):
        history.append(Written("two"))
    # What was not written may be written again.
    history.append(Written("two"))
    assert texts(PromptHistory(tmp_path, FOLDER)) == ["one", "two"]


def append(place: Path, name: str, count: int) -> None:
    history = PromptHistory(place, FOLDER, kept=10_000)
    for number in range(count):
        history.append(Written(f"{name} {number} " + "y" * 5000))


def shorten(place: Path, count: int) -> None:
    for _ in range(count):
        # So few are allowed that each reading shortens the file.
        PromptHistory(place, FOLDER, kept=100).texts()


def test_processes_write_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    arguments = [(tmp_path, name, 150) for name in ("a", "b", "c")]
    writers = [context.Process(target=append, args=each) for each in arguments]
    writers.append(context.Process(target=shorten, args=(tmp_path, 300)))
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(PATIENCE)
        assert writer.exitcode == 0
    found = texts(PromptHistory(tmp_path, FOLDER, kept=10_000))
    by_name = {name: [text for text in found if text.startswith(name)] for name in ("a", "b", "c")}
    # At least the newest hundred, each of them whole, none lost in between.
    assert len(found) >= 100
    for name, ones in by_name.items():
        numbers = [int(text.split()[1]) for text in ones]
        assert not numbers or sorted(set(numbers)) == list(range(min(numbers), 150))
        assert all(text == f"{name} {text.split()[1]} " + "y" * 5000 for text in ones)


def test_a_walk_keeps_the_draft_and_what_was_changed() -> None:
    walk = HistoryWalk([Written("one"), Written("two")])
    assert walk.up(Written("draft")) == Written("two")
    assert walk.up(Written("two, changed")) == Written("one")
    assert walk.up(Written("one")) is None
    assert walk.down(Written("one")) == Written("two, changed")
    assert walk.down(Written("two, changed")) == Written("draft")
    assert walk.down(Written("draft")) is None
    assert HistoryWalk().up(Written("draft")) is None


def test_search_finds_the_newest_first_and_each_once() -> None:
    written = [Written(text) for text in ("git push", "make", "Git\nlog", "git push")]
    assert [one.text for one in containing("GIT", written)] == ["git push", "Git\nlog"]
    assert [one.text for one in containing("", written)] == ["git push", "Git\nlog", "make"]


@given(st.text(), st.lists(st.integers(0, 40), max_size=6))
def test_any_text_survives_json(text: str, edges: list[int]) -> None:
    inside = sorted(edge for edge in edges if edge <= len(text))
    spans = tuple(zip(inside[::2], inside[1::2], strict=False))
    written = Written(text, spans)
    assert read_written(written.to_json()) == written
    assert "\n" not in written.to_json()

from __future__ import annotations

import multiprocessing
import stat
import sys
import threading
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from gemma_local.app.draft_text import DraftText
from gemma_local.app.written import Written
from tests.waiting import PATIENCE, until

FOLDER = Path("some") / "folder"


def files(place: Path) -> list[Path]:
    return sorted(place.glob("*.draft"))


def until_kept(place: Path, text: str) -> None:
    until(lambda: any(text in path.read_text() for path in files(place)))


def test_it_is_taken_over_from_one_that_is_gone(tmp_path: Path) -> None:
    written = Written("draft é\npasted", ((8, 14),))
    drafts = DraftText(tmp_path, FOLDER)
    drafts.keep(written)
    drafts.close()
    if sys.platform != "win32":
        assert [stat.S_IMODE(path.stat().st_mode) for path in files(tmp_path)] == [0o600]
    next_ = DraftText(tmp_path, FOLDER)
    assert DraftText(tmp_path, FOLDER / "other").take_over() is None
    assert next_.take_over() == written
    # It is that one's now, and kept until that one says otherwise.
    assert len(files(tmp_path)) == 1
    assert DraftText(tmp_path, FOLDER).take_over() is None
    next_.close()
    assert DraftText(tmp_path, FOLDER).take_over() == written


def test_nothing_stays_of_what_was_sent(tmp_path: Path) -> None:
    drafts = DraftText(tmp_path, FOLDER, every=0.0)
    drafts.keep(Written("draft"))
    until_kept(tmp_path, "draft")
    drafts.keep(Written())
    drafts.close()
    assert list(tmp_path.iterdir()) == []


def test_what_was_sent_is_gone_at_once(tmp_path: Path) -> None:
    drafts = DraftText(tmp_path, FOLDER, every=1000.0)
    drafts.keep(Written("sent"))
    until_kept(tmp_path, "sent")
    drafts.keep(Written())
    # The next letter may be here already.
    drafts.keep(Written("n"))
    until(lambda: not any("sent" in path.read_text() for path in files(tmp_path)))
    drafts.close()
    assert DraftText(tmp_path, FOLDER).take_over() == Written("n")


def test_the_last_text_is_written_when_it_is_closed(tmp_path: Path) -> None:
    drafts = DraftText(tmp_path, FOLDER, every=1000.0)
    for number in range(100):
        drafts.keep(Written(f"draft {number}"))
    drafts.close()
    assert DraftText(tmp_path, FOLDER).take_over() == Written("draft 99")


def test_several_that_were_left_are_taken_one_after_the_other(tmp_path: Path) -> None:
    first, second = DraftText(tmp_path, FOLDER), DraftText(tmp_path, FOLDER)
    first.keep(Written("first"))
    second.keep(Written("second"))
    first.close()
    second.close()
    one, other = DraftText(tmp_path, FOLDER), DraftText(tmp_path, FOLDER)
    taken = {draft.text for draft in (one.take_over(), other.take_over()) if draft}
    assert taken == {"first", "second"} and len(files(tmp_path)) == 2


def test_a_damaged_one_is_no_trouble(tmp_path: Path) -> None:
    drafts = DraftText(tmp_path, FOLDER)
    drafts.keep(Written("draft"))
    drafts.close()
    files(tmp_path)[0].write_bytes(b'{"text": "dra')
    assert DraftText(tmp_path, FOLDER).take_over() is None
    assert files(tmp_path) == []


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    drafts = DraftText(tmp_path / "file" / "state", FOLDER)
    drafts.keep(Written("draft"))
    drafts.close()
    assert "not kept" in drafts.problem


def write_on(place: Path, told: Connection) -> None:
    drafts = DraftText(place, FOLDER)
    drafts.keep(Written("never sent"))
    told.send("begun")
    threading.Event().wait()


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
def test_a_killed_process_leaves_its_text_and_a_living_one_keeps_its_own(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=write_on, args=(tmp_path, there))
    process.start()
    assert here.poll(PATIENCE) and here.recv() == "begun"
    until_kept(tmp_path, "never sent")
    drafts = DraftText(tmp_path, FOLDER)
    assert drafts.take_over() is None
    process.kill()
    process.join(PATIENCE)
    assert drafts.take_over() == Written("never sent")
    assert [path.suffix for path in tmp_path.iterdir() if path.suffix == ".draft"] == [".draft"]

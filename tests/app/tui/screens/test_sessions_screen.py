"""Choosing a conversation: found, looked at, renamed and deleted, in a real store."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.widgets import Input

from gemma_local.app.sessions.store import SessionStore
from gemma_local.app.tui.screens.sessions import SessionPicker
from gemma_local.models.message import Message
from tests.app.saved_sessions import HERE, begin, saved
from tests.app.tui.screens.host import Host, seen, text_of, until
from tests.waiting import PATIENCE

ELSEWHERE = Path("/srv/elsewhere")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SessionStore]:
    with SessionStore.open(tmp_path / "sessions.sqlite3") as opened:
        yield opened


async def test_this_folder_first_and_tab_for_all(store: SessionStore) -> None:
    older, newer = saved(store, "What does EAGAIN mean?"), saved(store, "Name [three] rivers")
    other = saved(store, "In another folder", folder=ELSEWHERE)
    host = Host(SessionPicker(store, HERE))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "EAGAIN" in seen(pilot))
        assert "Name [three] rivers" in seen(pilot) and "just now" in seen(pilot)
        assert "another folder" not in seen(pilot)
        await pilot.press("tab")
        await until(pilot, lambda: "In another folder" in seen(pilot))
        assert "in every folder" in text_of(pilot, "#heading")
        await pilot.press("ctrl+home", "enter")
    assert host.results == [other]
    for keys, expected in ((["enter"], newer), (["down", "enter"], older), (["escape"], None)):
        host = Host(SessionPicker(store, HERE))
        async with host.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: "EAGAIN" in seen(pilot))
            await pilot.press(*keys)
        assert host.results == [expected]


async def test_typing_searches_in_what_was_said(store: SessionStore) -> None:
    saved(store, "Hello", "nothing of interest")
    wanted = saved(store, "Hello again", "why is the connection reset by the peer?")
    host = Host(SessionPicker(store, HERE))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Hello again" in seen(pilot))
        await pilot.press(*"ction reset")
        await until(pilot, lambda: "why is the connection reset by" in seen(pilot))
        assert "2" in seen(pilot) and text_of(pilot, "#saying") == ""
        await pilot.press(*" xyz")
        await until(pilot, lambda: "fewer words find more" in text_of(pilot, "#saying"))
        await pilot.press("enter")
        assert not host.results
        await pilot.press(*["backspace"] * 4)
        await until(pilot, lambda: "why is the connection" in seen(pilot))
        await pilot.press("enter")
    assert host.results == [wanted]


async def test_the_end_of_it_is_shown_beside(store: SessionStore) -> None:
    with begin(store, "The question") as session:
        session.append(Message("assistant", "The answer\nin [two] lines\x1b[31m\nthree\n4\n5\n6"))
    with begin(store, *(f"message {number}" for number in range(30))):
        pass
    host = Host(SessionPicker(store, HERE))
    async with host.run_test(size=(160, 50)) as pilot:
        await until(pilot, lambda: "message 29" in seen(pilot))
        assert "message 21" not in seen(pilot)
        await pilot.press("down")
        await until(pilot, lambda: "in [two] lines [31m" in seen(pilot))
        assert "Assistant" in seen(pilot) and "\x1b" not in seen(pilot)
        # What was found is shown, not the end.
        await pilot.press(*'"message 3"')
        await until(pilot, lambda: "message 5" in seen(pilot))
        assert "message 29" not in seen(pilot)


async def test_on_a_small_screen_the_preview_takes_the_list_s_place(store: SessionStore) -> None:
    saved(store, "The title", "and the last word")
    host = Host(SessionPicker(store, HERE))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "The title" in seen(pilot))
        await pilot.press("ctrl+o")
        await until(pilot, lambda: "and the last word" in seen(pilot))
        await pilot.press("escape")
        await until(pilot, lambda: "and the last word" not in seen(pilot))
        assert not host.results


async def test_what_is_open_elsewhere_is_not_opened(store: SessionStore, tmp_path: Path) -> None:
    with SessionStore.open(tmp_path / "sessions.sqlite3") as another, begin(another, "Busy"):
        host = Host(SessionPicker(store, HERE))
        async with host.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: "open " in seen(pilot))
            await pilot.press("enter")
            assert "another gemma-local" in text_of(pilot, "#saying")
            await pilot.press("ctrl+d")
            assert "cannot be deleted" in text_of(pilot, "#saying")
            await pilot.press("ctrl+d")
            assert not host.results
    assert len(store.list(HERE)) == 1


async def test_the_one_that_is_open_here_is_marked(store: SessionStore) -> None:
    with begin(store, "Now") as session:
        host = Host(SessionPicker(store, HERE, current=session.id))
        async with host.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: "this one" in seen(pilot))
            await pilot.press("enter")
    assert host.results == [None]


async def test_a_title_is_changed(store: SessionStore) -> None:
    id_ = saved(store, "The old title")
    host = Host(SessionPicker(store, HERE))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "The old title" in seen(pilot))
        await pilot.press("ctrl+r")
        assert host.screen.query_one("#title", Input).value == "The old title"
        await pilot.press("ctrl+u", *"Nothing", "escape")
        assert "The old title" in seen(pilot)
        await pilot.press("ctrl+r", "ctrl+u", "enter")
        await pilot.press("ctrl+r", "ctrl+u", *"A better one", "enter")
        await until(pilot, lambda: "A better one" in seen(pilot))
        # The keyboard is the filter's again.
        await pilot.press("b")
        assert host.screen.query_one("#filter", Input).value == "b"
        assert not host.results
    assert store.find(id_).title == "A better one"


async def test_deleting_takes_the_key_twice(store: SessionStore) -> None:
    keep, go = saved(store, "To keep"), saved(store, "To [delete]")
    removed: list[str] = []
    host = Host(SessionPicker(store, HERE, remove_states=removed.append))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "To [delete]" in seen(pilot))
        await pilot.press("ctrl+d")
        assert "Delete 'To [delete]' with 1 message for good?" in text_of(pilot, "#saying")
        # Any other key takes it back.
        await pilot.press("escape")
        assert text_of(pilot, "#saying") == "" and not host.results
        await pilot.press("ctrl+d", "down", "up", "ctrl+d")
        assert "for good?" in text_of(pilot, "#saying")
        assert len(store.list(HERE)) == 2
        await pilot.press("ctrl+d")
        await until(pilot, lambda: "deleted 'To [delete]'" in text_of(pilot, "#saying"))
        await until(pilot, lambda: "To keep" in seen(pilot))
    assert [info.id for info in store.list(HERE)] == [keep] and removed == [go]


async def test_what_is_being_deleted_cannot_be_opened(store: SessionStore) -> None:
    saved(store, "Going")
    may_go_on = threading.Event()

    def wait(_: str) -> None:
        may_go_on.wait(PATIENCE)

    host = Host(SessionPicker(store, HERE, remove_states=wait))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Going" in seen(pilot))
        await pilot.press("ctrl+d", "ctrl+d")
        await until(pilot, lambda: "deleting" in seen(pilot))
        await pilot.press("enter")
        assert "just being deleted" in text_of(pilot, "#saying")
        may_go_on.set()
        await until(pilot, lambda: "Going" not in seen(pilot).replace("deleted 'Going'", ""))
        assert not host.results


async def test_what_cannot_be_deleted_is_said(store: SessionStore) -> None:
    saved(store, "Staying")

    def fail(_: str) -> None:
        raise PermissionError(13, "Permission denied")

    host = Host(SessionPicker(store, HERE, remove_states=fail))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Staying" in seen(pilot))
        await pilot.press("ctrl+d", "ctrl+d")
        await until(pilot, lambda: "Permission denied" in text_of(pilot, "#saying"))
        # The conversation itself is gone.
        assert "Staying" not in seen(pilot) and not store.list(HERE)


async def test_only_what_was_deleted_is_said_to_be(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(store, "Staying")

    def fail(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    host = Host(SessionPicker(store, HERE))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Staying" in seen(pilot))
        monkeypatch.setattr(SessionStore, "is_open", fail)
        await pilot.press("tab")
        await until(pilot, lambda: "Permission denied" in text_of(pilot, "#saying"))
        assert "deleted" not in text_of(pilot, "#saying")


async def test_a_damaged_file_is_a_sentence(store: SessionStore) -> None:
    store.close()
    host = Host(SessionPicker(store, HERE))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: bool(text_of(pilot, "#saying")))
        assert host.screen.query("#saying.-error")
        await pilot.press("enter", "ctrl+d", "ctrl+r", "escape")
    assert host.results == [None]


async def test_nothing_was_saved_yet(store: SessionStore) -> None:
    host = Host(SessionPicker(store, HERE))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "tab shows those of all folders" in text_of(pilot, "#saying"))
        await pilot.press("tab")
        await until(pilot, lambda: "saved yet" in text_of(pilot, "#saying"))


async def test_hundreds_of_sessions(store: SessionStore) -> None:
    for number in range(300):
        with store.create(HERE, "gemma", "vocabulary") as session:
            session.append(Message("user", f"Session {number}"))
    host = Host(SessionPicker(store, HERE))
    async with host.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Session 299" in seen(pilot))
        await pilot.press("ctrl+end")
        await until(pilot, lambda: "Session 0 " in seen(pilot))
        await pilot.press("enter")
    assert host.results == [store.list(HERE)[-1].id]

from __future__ import annotations

from pathlib import Path

import pytest

from gemma_local.app.draft_text import DraftText
from gemma_local.app.prompt_history import PromptHistory
from gemma_local.app.tui.composer.composer import Composer
from gemma_local.app.tui.composer.prompt_area import LONE_MARK
from gemma_local.app.tui.composer.token import kind_of
from gemma_local.app.tui.glyphs import UNICODE
from gemma_local.app.written import Written
from tests.app.tui.composer.host import Host, hosted, press, until


def remembered(tmp_path: Path, *texts: str) -> None:
    history = PromptHistory(tmp_path / "state", tmp_path / "folder")
    for text in texts:
        history.append(Written(text))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("hello", "message"),
        ("/help", "command"),
        ("/think on", "command"),
        ("/title a\nb", "command"),
        ("/etc/hosts is odd", "message"),
        ("/", "message"),
        (" /help", "message"),
        ("!ls -l", "shell"),
        ("so!", "message"),
    ],
)
def test_kinds(text: str, kind: str) -> None:
    assert kind_of(text) == kind


async def test_what_is_sent_says_what_it_is(tmp_path: Path) -> None:
    async with hosted(tmp_path) as (app, pilot):
        await press(pilot, "! ls -l ", "enter")
        await press(pilot, "/help", "enter")
        await press(pilot, "hi", "enter")
        assert app.said == [
            Composer.Sent("! ls -l ", "shell"),
            Composer.Sent("/help", "command"),
            Composer.Sent("hi", "message"),
        ]
        first = app.said[0]
        assert isinstance(first, Composer.Sent) and first.command_line == "ls -l"


async def test_the_mark_shows_the_shell(tmp_path: Path) -> None:
    async with hosted(tmp_path) as (app, pilot):
        mark = app.query_one(".composer--mark")
        assert str(mark.render()) == UNICODE.prompt
        await press(pilot, "!")
        assert str(mark.render()) == "$"
        await press(pilot, "backspace")
        assert str(mark.render()) == UNICODE.prompt


async def test_up_and_down_walk_and_keep_the_draft(tmp_path: Path) -> None:
    remembered(tmp_path, "first", "two\nlines")
    async with hosted(tmp_path) as (app, pilot):
        await press(pilot, "draft", "up")
        assert app.area.text == "two\nlines" and app.area.cursor_location == (0, 0)
        await press(pilot, "down", "end", "!", "up", "up")
        assert app.area.text == "first"
        await press(pilot, "up", "down")
        assert app.area.text == "two\nlines!"
        await press(pilot, "down", "down")
        assert app.area.text == "draft"
        await press(pilot, "down", "ed", "enter", "up")
        assert app.sent == ["drafted"] and app.area.text == "drafted"
        await press(pilot, "up")
        # What was changed on the way back was not sent, and is as it was.
        assert app.area.text == "two\nlines"
    assert [w.text for w in app.history.texts()] == ["first", "two\nlines", "drafted"]


async def test_search_finds_as_one_types(tmp_path: Path) -> None:
    remembered(tmp_path, "git push", "make test", "git log")
    async with hosted(tmp_path) as (app, pilot):
        await press(pilot, "mine", "ctrl+a", "ctrl+k", "git", "ctrl+r")
        chosen = app.popup.chosen
        assert chosen is not None and chosen.label == "git log" and chosen.marks == (0, 1, 2)
        await press(pilot, "ctrl+r")
        assert app.offered() == "git push"
        await press(pilot, "escape")
        assert app.area.text == "git" and not app.offered()
        await press(pilot, "ctrl+r")
        await press(pilot, "backspace", "backspace", "backspace", "test", "enter")
        assert app.area.text == "make test" and not app.offered() and not app.sent
        await press(pilot, "ctrl+r")
        await press(pilot, " nothing of the kind", "enter")
        assert app.popup.is_open and not app.sent
        await press(pilot, "escape", "enter")
        assert app.sent == ["make test"]


async def test_the_queue_is_shown_and_taken_back(tmp_path: Path) -> None:
    async with hosted(tmp_path) as (app, pilot):
        line = app.query_one(".composer--queue")
        assert not line.display
        app.composer.set_queue(["first [b]thing", "second\nthing"])
        await pilot.pause()
        assert "2 waiting" in str(line.render()) and "first [b]thing" in str(line.render())
        await press(pilot, "up")
        assert app.said == [Composer.Unqueued("second\nthing")]
        assert app.area.text == "second\nthing" and "1 waiting" in str(line.render())
        await press(pilot, "down", "x")
        await press(pilot, "up", "up")
        assert app.area.text == "second\nthingx"
        app.composer.set_queue([])
        await pilot.pause()
        assert not line.display


async def test_what_comes_back_stands_before_what_is_being_written(tmp_path: Path) -> None:
    async with hosted(tmp_path) as (app, pilot):
        assert app.composer.give_back("alone") is False
        assert app.composer.text == "alone"
        app.composer.clear()
        app.composer.insert("a\nb\nc\nd")
        await press(pilot, " and", "left", "left")
        assert app.composer.give_back("what\nwaited") is True
        await press(pilot, "x")
        assert app.composer.text == "what\nwaited\n\na\nb\nc\nd axnd"
        assert "[Pasted text #1" in app.area.text
        # A press takes it away again, and no more than that.
        await press(pilot, "ctrl+z", "ctrl+z")
        assert app.composer.text == "a\nb\nc\nd and"


async def test_what_comes_back_ends_a_search(tmp_path: Path) -> None:
    remembered(tmp_path, "git push", "make test")
    async with hosted(tmp_path) as (app, pilot):
        await press(pilot, "mine", "ctrl+r")
        # Of the search nothing is left, and the text is not to be seen.
        await press(pilot, "backspace", "backspace", "backspace", "backspace")
        assert app.composer.text == ""
        app.composer.give_back("what waited")
        await pilot.pause()
        assert app.composer.text == "what waited\n\nmine" and not app.offered()


async def test_the_cursor_stays_in_view_when_something_long_comes_back(tmp_path: Path) -> None:
    async with hosted(tmp_path) as (app, pilot):
        await press(pilot, "mine")
        app.composer.give_back("\n".join(map(str, range(30))))
        await pilot.pause()
        area = app.area
        row = area.cursor_location[0]
        assert row == 31
        assert area.scroll_offset.y <= row < area.scroll_offset.y + area.size.height


async def test_a_lone_exclamation_mark_is_not_sent(tmp_path: Path) -> None:
    async with hosted(tmp_path) as (app, pilot):
        await press(pilot, "!", "enter")
        assert [note.message for note in app._notifications] == [LONE_MARK]
        # Who goes on at once loses nothing.
        await press(pilot, " ", "enter", "ls", "enter")
        assert app.said == [Composer.Sent("! ls", "shell")]
        await press(pilot, "so !", "enter")
        assert app.sent == ["! ls", "so !"]
    assert [written.text for written in app.history.texts()] == ["! ls", "so !"]


async def test_clearing_by_key_can_be_undone(tmp_path: Path) -> None:
    async with hosted(tmp_path) as (app, pilot):
        assert app.composer.clear_by_key() is False
        await press(pilot, "text")
        app.composer.insert("a\nb\nc\nd")
        assert app.composer.has_text and app.composer.clear_by_key()
        assert app.composer.text == ""
        await press(pilot, "ctrl+z")
        assert app.composer.text == "texta\nb\nc\nd"


async def test_a_draft_of_one_that_is_gone_comes_back(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    drafts = DraftText(tmp_path / "state", tmp_path / "folder")
    drafts.keep(Written("never sent\n\n\npasted", ((13, 19),)))
    drafts.close()
    async with hosted(tmp_path) as (app, pilot):
        await until(pilot, lambda: app.composer.has_text)
        assert app.composer.text == "never sent\n\n\npasted"
        assert "[Pasted text #1" in app.area.text
        await press(pilot, "enter")
    assert DraftText(tmp_path / "state", tmp_path / "folder").take_over() is None


async def test_a_draft_that_comes_too_late_is_in_the_history(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    drafts = DraftText(tmp_path / "state", tmp_path / "folder")
    drafts.keep(Written("left behind"))
    drafts.close()
    app = Host(tmp_path / "folder", tmp_path / "state")
    async with app.run_test(size=(80, 24)) as pilot:
        # Before the thread that looks for it has said what it found.
        app.composer.insert("new")
        await app.workers.wait_for_complete()
        await pilot.pause()
        if app.area.text == "new":
            await press(pilot, "up")
        assert "left behind" in app.area.text
    kept = DraftText(tmp_path / "state", tmp_path / "folder").take_over()
    assert kept is not None and "left behind" in kept.text


async def test_unsent_text_outlives_the_app(tmp_path: Path) -> None:
    async with hosted(tmp_path) as (_, pilot):
        await press(pilot, "half a sent")
    assert DraftText(tmp_path / "state", tmp_path / "folder").take_over() == Written("half a sent")


async def test_a_history_that_cannot_be_written_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "state").write_text("a file where the folder should be")
    app = Host(tmp_path / "folder", tmp_path / "state")
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "a", "enter", "b", "enter")
        await pilot.pause()
        assert app.sent == ["a", "b"]
        await press(pilot, "up", "up")
        assert app.area.text == "a"
        # One for the history, one for the draft.
        assert 1 <= len(app._notifications) <= 2

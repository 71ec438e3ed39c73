from __future__ import annotations

import random
from pathlib import Path

import pytest
from textual import events
from textual.document._document import Selection

from tests.app.tui.composer.host import hosted, press

LONG = "one\ntwo\nthree\nfour"
MARK = "[Pasted text #1, 4 lines]"


async def test_enter_sends_and_other_keys_break_the_line(tmp_path: Path) -> None:
    async with hosted(tmp_path) as (app, pilot):
        await press(pilot, "a", "ctrl+j", "b", "alt+enter", "c", "shift+enter", "d\\", "enter")
        await press(pilot, "e")
        assert app.area.text == "a\nb\nc\nd\ne"
        await press(pilot, "enter")
        assert app.sent == ["a\nb\nc\nd\ne"] and not app.composer.has_text
        await press(pilot, " ", "enter")
        assert len(app.sent) == 1


async def test_it_grows_to_ten_lines_or_a_third_of_the_screen(tmp_path: Path) -> None:
    for size, most in (((80, 24), 8), ((160, 50), 10)):
        async with hosted(tmp_path, size) as (app, pilot):
            assert app.area.size.height == 1
            await press(pilot, "ctrl+j", "ctrl+j")
            assert app.area.size.height == 3
            await press(pilot, *["ctrl+j"] * 12)
            assert app.area.size.height == most
            await press(pilot, "x")
            # The line of the cursor is among those that are seen.
            assert app.area.scroll_offset.y == 15 - most
            app.composer.clear()
            await pilot.pause()
            assert app.area.size.height == 1
            # Soft wrap counts, too.
            app.composer.insert("word " * (size[0] // 5))
            await pilot.pause()
            assert app.area.size.height == 2


async def test_keys_of_readline(tmp_path: Path) -> None:
    async with hosted(tmp_path) as (app, pilot):
        await press(pilot, "one two three", "ctrl+w", "ctrl+a", "0 ", "ctrl+e", "!")
        assert app.area.text == "0 one two !"
        await press(pilot, "alt+b", "alt+b", "ctrl+k")
        assert app.area.text == "0 one "
        await press(pilot, "ctrl+u")
        assert app.area.text == ""
        # What is deleted by keys one after the other comes back at once.
        await press(pilot, "ctrl+z")
        assert app.area.text == "0 one two !"
        await press(pilot, "ctrl+y")
        assert app.area.text == ""


async def test_a_long_paste_is_a_mark_and_is_sent_whole(tmp_path: Path) -> None:
    async with hosted(tmp_path) as (app, pilot):
        await press(pilot, "see ")
        app.post_message(events.Paste(LONG.replace("\n", "\r\n")))
        await pilot.pause()
        assert app.area.text == f"see {MARK}" and app.composer.text == f"see {LONG}"
        app.post_message(events.Paste("short\npaste"))
        await pilot.pause()
        await press(pilot, "enter")
        assert app.sent == [f"see {LONG}short\npaste"]
        # It comes back as it was shown.
        await press(pilot, "up")
        assert app.area.text == f"see {MARK}short\npaste"


async def test_a_mark_is_one_unit(tmp_path: Path) -> None:
    async with hosted(tmp_path) as (app, pilot):
        await press(pilot, "ab")
        app.composer.insert(LONG)
        await press(pilot, "cd", "left", "left", "left")
        assert app.area.cursor_location == (0, 2)
        await press(pilot, "x", "right")
        assert app.area.cursor_location == (0, 3 + len(MARK))
        await press(pilot, "backspace")
        assert app.area.text == "abxcd"
        await press(pilot, "ctrl+z")
        assert app.area.text == f"abx{MARK}cd" and app.composer.text == f"abx{LONG}cd"
        app.area.move_cursor((0, 10))
        assert app.area.cursor_location == (0, 3)
        await press(pilot, "delete")
        assert app.area.text == "abxcd"
        await press(pilot, "ctrl+z")
        app.area.selection = Selection((0, 1), (0, 4))
        await press(pilot, "y")
        assert app.composer.text in (f"ay{LONG}cd", "aycd")
        assert app.area.text in (f"ay{MARK}cd", "aycd")


async def test_a_paste_is_shown_in_full_by_a_key(tmp_path: Path) -> None:
    async with hosted(tmp_path) as (app, pilot):
        app.composer.insert(LONG)
        await press(pilot, "f3")
        assert app.area.text == LONG
        await press(pilot, "ctrl+z")
        assert app.area.text == MARK
        app.composer.clear()
        app.composer.insert("x" * 30_000)
        await press(pilot, "f3")
        assert app.area.text.startswith("[Pasted text #")


async def test_random_edits_never_break_a_mark(tmp_path: Path) -> None:
    """What is sent is made of what was typed and whole pastes, whatever the keys."""
    chance = random.Random(7)
    pastes = {letter: f"<{letter}\n\n\n{letter}>" for letter in "ABC"}
    moves = ("left", "right", "home", "end", "up", "down", "ctrl+left", "ctrl+right", "shift+left")
    edits = ("backspace", "delete", "ctrl+w", "ctrl+k", "ctrl+u", "ctrl+z", "ctrl+y", "ctrl+j", "x")
    async with hosted(tmp_path) as (app, pilot):
        for _ in range(400):
            if chance.random() < 0.1:
                app.composer.insert(pastes[chance.choice("ABC")])
            else:
                key = chance.choice(moves + edits)
                app.post_message(events.Key(key, key if len(key) == 1 else None))
            if chance.random() < 0.7:
                continue
            await pilot.pause()
            rest = app.composer.text
            for paste in pastes.values():
                rest = rest.replace(paste, "")
            assert set(rest) <= {"x", "\n"}
            assert "Pasted" not in rest


async def test_control_characters_of_a_paste_are_left_out(tmp_path: Path) -> None:
    async with hosted(tmp_path) as (app, pilot):
        app.post_message(events.Paste("a\x1b[31mb\x1b[0m\x07c"))
        await pilot.pause()
        assert app.area.text == "abc"


@pytest.mark.parametrize("start", ["", "^"])
async def test_broken_mouse_reports_are_no_text(tmp_path: Path, start: str) -> None:
    async with hosted(tmp_path) as (app, pilot):
        await press(pilot, "before ")
        for character in f"{start}[<35;NaN;NaNM{start}[<35;NaN;NaNm":
            app.post_message(events.Key(character, character))
        await pilot.pause()
        await press(pilot, "Mm after")
        assert app.area.text == "before Mm after"


async def test_the_path_of_a_file_becomes_a_mention(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "src").mkdir(parents=True)
    (folder / "src/a b.py").touch()
    (tmp_path / "outside.md").touch()
    (folder / "LICENSE").touch()
    async with hosted(tmp_path) as (app, pilot):
        for pasted, shown in (
            (str(folder / "src/a b.py"), '@"src/a b.py" '),
            (f"'{folder}/src/a b.py'", '@"src/a b.py" '),
            (f"{folder}/src/a\\ b.py ", '@"src/a b.py" '),
            (f"file://{folder}/src/a%20b.py\n", '@"src/a b.py" '),
            (str(tmp_path / "outside.md"), f"@{tmp_path}/outside.md "),
            ("LICENSE", "LICENSE"),
            (str(folder / "src/gone.py"), str(folder / "src/gone.py")),
            (str(folder / "src"), str(folder / "src")),
        ):
            app.composer.clear()
            app.post_message(events.Paste(pasted))
            await pilot.pause()
            assert app.area.text == shown
        app.composer.clear()
        await press(pilot, "!cat ")
        app.post_message(events.Paste(str(tmp_path / "outside.md")))
        await pilot.pause()
        assert app.area.text == f"!cat {tmp_path}/outside.md"


async def test_undoing_what_took_more_lines_than_are_shown(tmp_path: Path) -> None:
    async with hosted(tmp_path) as (app, pilot):
        await press(pilot, "a")
        app.area.type_text("line\n" * 20)
        await press(pilot, "ctrl+z")
        assert app.area.text == "a"
        await press(pilot, "ctrl+y")
        assert app.area.text == "a" + "line\n" * 20
        assert app.area.size.height == 8


async def test_keys_that_mean_nothing_here_reach_the_app(tmp_path: Path) -> None:
    async with hosted(tmp_path) as (app, pilot):
        app.bind("f3", "notify('no paste here')")
        app.bind("escape", "notify('nothing offered')")
        await press(pilot, "f3", "escape")
        assert {note.message for note in app._notifications} == {
            "no paste here",
            "nothing offered",
        }

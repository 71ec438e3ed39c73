from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from gemma_local.app.tui.composer.completion import _clipped
from gemma_local.app.tui.composer.token import Token, token_before
from gemma_local.app.tui.glyphs import ASCII
from tests.app.tui.composer.host import Host, hosted, press, until


def made(tmp_path: Path, *paths: str) -> None:
    for path in paths:
        (tmp_path / "folder" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "folder" / path).touch()


def labels(app: Host) -> list[str]:
    return [str(line).rstrip().lstrip() for line in app.popup.render().split("\n")]


@pytest.mark.parametrize(
    ("before", "token"),
    [
        ("/", Token("command", "", 0)),
        ("/he", Token("command", "he", 0)),
        ("/think ", Token("argument", "", 7, "think")),
        ("/Think  o", Token("argument", "o", 8, "think")),
        ("/etc/ho", None),
        ("a /he", None),
        ("see @src/a", Token("file", "src/a", 4)),
        ("(@", Token("file", "", 1)),
        ('@"a b', Token("file", "a b", 0)),
        ("/summarize @a", Token("file", "a", 11)),
        ("me@exam", None),
        ("@a b", None),
    ],
)
def test_tokens(before: str, token: Token | None) -> None:
    assert token_before(before, is_first_line=True, is_shell=False) == token
    assert token_before(before, is_first_line=True, is_shell=True) is None


def test_commands_only_stand_in_the_first_line() -> None:
    assert token_before("/he", is_first_line=False, is_shell=False) is None
    assert token_before("@a", is_first_line=False, is_shell=False) == Token("file", "a", 0)


async def test_a_file_is_found_and_taken(tmp_path: Path) -> None:
    made(tmp_path, "src/chat_view.py", "src/chat.py", "docs/my notes.md", "README.md")
    async with hosted(tmp_path) as (app, pilot):
        await press(pilot, "see @chat")
        await until(pilot, lambda: labels(app) == ["src/chat.py", "src/chat_view.py"])
        assert app.popup.chosen is not None and app.popup.chosen.marks == (4, 5, 6, 7)
        await press(pilot, "down", "tab", "and @mynot")
        assert app.area.text == "see @src/chat_view.py and @mynot"
        await until(pilot, lambda: labels(app) == ["docs/my notes.md"])
        await press(pilot, "enter")
        assert app.area.text == 'see @src/chat_view.py and @"docs/my notes.md" '
        assert not app.popup.is_open and not app.sent and app.area.has_focus
        await press(pilot, "enter")
        assert len(app.sent) == 1


async def test_it_lies_over_what_is_above_and_moves_nothing(tmp_path: Path) -> None:
    made(tmp_path, *(f"file{number}.py" for number in range(30)))
    async with hosted(tmp_path) as (app, pilot):
        above = app.query_one("#above").region
        composer = app.composer.region
        await press(pilot, "@")
        await until(pilot, lambda: app.popup.is_open)
        await pilot.pause()
        assert app.query_one("#above").region == above and app.composer.region == composer
        assert app.popup.region.height == 8 and app.popup.region.bottom == composer.y
        await press(pilot, *["down"] * 10)
        assert len(labels(app)) == 8 and app.popup.chosen is not None
        assert app.popup.chosen.label in labels(app)[-1]
        await press(pilot, *["up"] * 11)
        assert app.popup.chosen.label in labels(app)[-1]


async def test_little_room_above_makes_it_small(tmp_path: Path) -> None:
    made(tmp_path, *(f"file{number}.py" for number in range(30)))
    async with hosted(tmp_path, (60, 6)) as (app, pilot):
        await press(pilot, "@")
        await until(pilot, lambda: app.popup.is_open)
        await pilot.pause()
        assert app.popup.region.y == 0 and app.popup.region.height == app.composer.region.y
        await press(pilot, *["down"] * 6)
        assert app.popup.chosen is not None and app.popup.chosen.label in labels(app)[-1]


async def test_a_click_takes_a_line(tmp_path: Path) -> None:
    made(tmp_path, "a1.py", "a2.py")
    async with hosted(tmp_path) as (app, pilot):
        await press(pilot, "@a")
        await until(pilot, lambda: app.popup.is_open)
        await pilot.pause()
        await pilot.click(app.popup, offset=(3, 1))
        assert app.area.text == "@a2.py " and app.area.has_focus


async def test_escape_closes_until_another_word(tmp_path: Path) -> None:
    made(tmp_path, "a1.py", "a2.py")
    async with hosted(tmp_path) as (app, pilot):
        await press(pilot, "@a")
        await until(pilot, lambda: app.popup.is_open)
        await press(pilot, "escape", "1")
        await pilot.pause(0.1)
        assert not app.popup.is_open
        await press(pilot, "tab")
        await until(pilot, lambda: app.popup.is_open)
        await press(pilot, "escape", " @")
        await until(pilot, lambda: app.popup.is_open)


async def test_nothing_found_closes_and_enter_sends(tmp_path: Path) -> None:
    made(tmp_path, "a1.py")
    async with hosted(tmp_path) as (app, pilot):
        await press(pilot, "@a")
        await until(pilot, lambda: app.popup.is_open)
        await press(pilot, "zzz")
        await until(pilot, lambda: not app.popup.is_open)
        await press(pilot, "enter")
        assert app.sent == ["@azzz"]


async def test_a_folder_that_is_too_large_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "folder"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "folder"))
    async with hosted(tmp_path) as (app, pilot):
        await press(pilot, "@")
        await until(pilot, lambda: app.popup.is_open)
        await until(pilot, lambda: "type a path" in labels(app)[0])
        await press(pilot, "x", "enter")
        assert app.sent == ["@x"]


async def test_a_path_leads_out_of_the_folder(tmp_path: Path) -> None:
    made(tmp_path, "a.py")
    for name in ("out side/notes.md", "out side/.hidden"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    async with hosted(tmp_path) as (app, pilot):
        await press(pilot, "@../out")
        await until(pilot, lambda: app.offered() == "../out side/")
        await press(pilot, "tab")
        assert app.area.text == '@"../out side/'
        await until(pilot, lambda: app.offered() == "../out side/notes.md")
        assert len(labels(app)) == 1
        await press(pilot, "enter")
        assert app.area.text == '@"../out side/notes.md" '
        # Shorter than a folder of pytest's: of what is typed 64 characters are compared.
        with TemporaryDirectory() as folder:
            made(Path(folder), "a.py")
            await press(pilot, f"@{folder}/fol")
            await until(pilot, lambda: app.offered() == f"{folder}/folder/")


async def test_commands_and_their_values(tmp_path: Path) -> None:
    async with hosted(tmp_path) as (app, pilot):
        await press(pilot, "/")
        await until(pilot, lambda: len(labels(app)) == 8)
        await press(pilot, "thi")
        await until(pilot, lambda: labels(app)[0].startswith("/think [on|off|N]"))
        await press(pilot, "tab")
        assert app.area.text == "/think "
        await until(pilot, lambda: labels(app) == ["on", "off", "512", "2048"])
        await press(pilot, "of", "enter")
        assert app.area.text == "/think off" and not app.sent
        await press(pilot, "enter")
        assert app.sent == ["/think off"]


async def test_enter_sends_a_command_that_is_typed(tmp_path: Path) -> None:
    async with hosted(tmp_path) as (app, pilot):
        # Its name, another name of it, and one whose argument may be left out.
        for line in ("/help", "/quit", "/model"):
            await press(pilot, line, "enter")
        await press(pilot, "/mod", "tab", "enter")
        assert [text.strip() for text in app.sent] == ["/help", "/quit", "/model", "/model"]
        await press(pilot, "/hel", "enter")
        assert len(app.sent) == 4 and app.area.text == "/help"


async def test_another_name_finds_a_command(tmp_path: Path) -> None:
    async with hosted(tmp_path) as (app, pilot):
        await press(pilot, "/qui")
        await until(pilot, lambda: "/exit" in labels(app)[0] and "(/quit)" in labels(app)[0])


def test_long_labels_keep_their_end() -> None:
    assert _clipped("a/very/long/path.py", 10, "…") == ("…g/path.py", 9)
    assert _clipped("a/very/long/path.py", 10, ASCII.ellipsis) == ("...path.py", 9)
    assert _clipped("short", 10, "…") == ("short", 0)
    assert _clipped("日本語日本語", 5, "…") == ("…本語", 3)

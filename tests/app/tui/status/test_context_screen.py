"""The page that shows what fills the context."""

from __future__ import annotations

import pytest
from textual.app import App

from gemma_local.app.context_window import ContextUse, Window
from gemma_local.app.tui.charts.view import LinesView
from gemma_local.app.tui.glyphs import ASCII
from gemma_local.app.tui.screens.context import ContextScreen
from gemma_local.app.tui.status.context_facts import ContextFacts, Sized

FULL = ContextFacts(
    ContextUse(Window(32768), 812, 1440, 6300, 9100),
    cached=17012,
    largest=(
        Sized("tool", "read_file src/app.py 1-400", 3110),
        Sized("you", "Why is [bold]this[/] slow?\n\x1b[31mSecond line", 6300),
        Sized("model", "これは日本語のとても長いメッセージです" * 5, 900),
    ),
)
SIZES = [(40, 24), (80, 24), (120, 40), (200, 60)]


class Host(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.wishes = 0

    def on_context_screen_compact_asked(self) -> None:
        self.wishes += 1


def page(screen: ContextScreen) -> str:
    return screen.query_one(LinesView).text


@pytest.mark.parametrize("size", SIZES)
async def test_what_fills_the_window(size: tuple[int, int]) -> None:
    app = Host()
    async with app.run_test(size=size) as pilot:
        screen = ContextScreen(FULL)
        await app.push_screen(screen)
        await pilot.pause()
        shown = page(screen)
        for part in (
            "17,652 of 32,768 tokens",
            "640 to be read",
            "compacted at 24,576",
            "6,924 tokens more",
            "54 %",
        ):
            assert part in shown
        for count in ("812", "1,440", "6,300", "9,100", "4,096", "11,020"):
            assert count in shown
        assert "\x1b" not in shown
        lines = screen.query_one(LinesView)._lines
        assert max(line.cells for line in lines) <= min(size[0] - 6, 100)


async def test_the_largest_come_first_and_are_one_line_each() -> None:
    app = Host()
    async with app.run_test(size=(120, 40)) as pilot:
        screen = ContextScreen(FULL)
        await app.push_screen(screen)
        await pilot.pause()
        below = page(screen).split("Largest messages")[1].splitlines()[1:]
        assert [line.split()[0] for line in below] == ["you", "tool", "model"]
        assert "[bold]this[/]" in below[0]


async def test_it_opens_at_once_and_is_filled_when_the_tokens_are_counted() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = ContextScreen()
        await app.push_screen(screen)
        await pilot.pause()
        assert "Counting" in page(screen)
        screen.show(FULL)
        await pilot.pause()
        assert "17,652" in page(screen)


async def test_room_is_made_on_request_only() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(ContextScreen(FULL))
        await pilot.press("escape")
        await app.push_screen(ContextScreen(FULL))
        await pilot.pause()
        assert app.wishes == 0
        await pilot.press("m")
        await pilot.pause()
        assert app.wishes == 1
        assert not isinstance(app.screen, ContextScreen)


@pytest.mark.parametrize("history", [0, 24_576, 28_000, 32_768, 40_000])
@pytest.mark.parametrize("size", [2048, 32768])
async def test_windows_that_are_empty_full_and_more_than_full(history: int, size: int) -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        use = ContextUse(Window(size), history=history)
        screen = ContextScreen(ContextFacts(use), glyphs=ASCII)
        await app.push_screen(screen)
        await pilot.pause()
        shown = page(screen)
        assert f"{history:,} of {size:,} tokens" in shown
        assert ("The line is reached" in shown) is (history >= use.window.compact_at)
        assert "-" not in shown.replace("to-be", "")
        assert shown.isascii()
        assert max(line.cells for line in screen.query_one(LinesView)._lines) <= 74

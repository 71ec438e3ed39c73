from __future__ import annotations

import pytest
from textual.app import App
from textual.widgets import Input

from gemma_local.app import folders
from gemma_local.app.tui.commands.keys import KEYS, chosen_keys
from gemma_local.app.tui.commands.registry import COMMANDS
from gemma_local.app.tui.glyphs import ASCII
from gemma_local.app.tui.lines_pane import LinesPane
from gemma_local.app.tui.screens.help import HelpScreen
from gemma_local.app.tui.screens.help_text import help_sections, matching


def text_of(app: App[None]) -> str:
    return app.screen.query_one(LinesPane).text


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (200, 60)])
async def test_everything_is_in_it_at_every_size(size: tuple[int, int]) -> None:
    app = App[None]()
    async with app.run_test(size=size) as pilot:
        app.push_screen(HelpScreen())
        await pilot.pause()
        text = " ".join(text_of(app).split())
        for command in COMMANDS:
            assert command.usage in text
        for key in KEYS:
            assert key.summary in text
        assert "config.toml" in text.replace(" ", "")
        pane = app.screen.query_one(LinesPane)
        await pilot.press("ctrl+end")
        assert pane.scroll_y == pane.max_scroll_y > 0
        await pilot.press("pageup", "up")
        assert pane.scroll_y < pane.max_scroll_y
        assert all(len(line) <= size[0] for line in text_of(app).splitlines())


async def test_typing_leaves_what_fits() -> None:
    app = App[None]()
    async with app.run_test(size=(80, 24)) as pilot:
        app.push_screen(HelpScreen(glyphs=ASCII))
        await pilot.press("pagedown", *"clipboard")
        text = text_of(app)
        assert "/copy" in text and "/draft" not in text
        assert app.screen.query_one(LinesPane).scroll_y == 0
        app.screen.query_one(Input).value = "no such word"
        await pilot.pause()
        assert text_of(app) == "nothing here has that word"
        await pilot.press("escape")
        assert not isinstance(app.screen, HelpScreen)


def test_the_keys_are_those_of_now() -> None:
    sections = help_sections(chosen_keys({"stats": ["ctrl+x"]}))
    rows = {row.text: row.name for section in sections for row in section.rows}
    assert rows["speed, acceptance and memory"] in ("Ctrl-X", "/stats")
    assert matching(sections, "ctrl-x")[0].rows[0].text == "speed, acceptance and memory"
    assert matching(sections, "keys ctrl+x")[0].rows[0].name == "Ctrl-X"
    assert (
        matching(sections, "files settings")[0].rows[0].text.endswith(folders.settings_path().name)
    )

"""The status line on a screen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.app import App, ComposeResult

from gemma_local.app.speed_log import Reading
from gemma_local.app.tui.status.status import Status
from gemma_local.app.tui.status.status_line import StatusLine
from tests.app.tui.status.test_arrangement import BARE, LIVE, STATES, line


class Host(App[None]):
    def compose(self) -> ComposeResult:
        yield StatusLine()


def shown(bar: StatusLine) -> str:
    return bar.render_line(0).text


@pytest.mark.parametrize("width", [20, 40, 80, 120, 200])
async def test_it_is_one_line_at_every_width(width: int) -> None:
    app = Host()
    async with app.run_test(size=(width, 24)) as pilot:
        bar = app.query_one(StatusLine)
        for status in STATES.values():
            bar.show(status)
            await pilot.pause()
            assert bar.size.height == 1
            assert bar.render_line(0).cell_length == width - 2
            assert shown(bar).rstrip() == line(status, width - 2).rstrip()


async def test_what_changes_is_painted_without_a_new_layout() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        bar = app.query_one(StatusLine)
        bar.show(LIVE)
        await pilot.pause()
        layouts = []
        refresh = bar.refresh

        def watched(*regions: object, layout: bool = False, **options: bool) -> StatusLine:
            layouts.append(layout)
            return refresh(layout=layout)

        bar.refresh = watched  # type: ignore[method-assign]
        bar.show(replace(LIVE))
        assert layouts == []
        bar.show(replace(BARE, reading=Reading(100, 400, 0)))
        await pilot.pause()
        assert layouts == [False]
        assert "reading  100 of  400" in shown(bar)


async def test_it_follows_the_theme() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        bar = app.query_one(StatusLine)
        bar.show(replace(Status(), pair="down"))
        colours = set()
        for theme in ("textual-dark", "textual-light"):
            app.theme = theme
            await pilot.pause()
            segment = next(s for s in bar.render_line(0) if "engine down" in s.text)
            assert segment.style is not None
            colours.add(segment.style.color)
        assert len(colours) == 2


async def test_markup_in_a_name_is_text() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        bar = app.query_one(StatusLine)
        bar.show(Status(model="[bold]E4B[/]", pair="ready"))
        await pilot.pause()
        assert "[bold]E4B[/]" in shown(bar)

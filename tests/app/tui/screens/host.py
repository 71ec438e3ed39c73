"""An app around one screen of this test."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Static

from gemma_local.app.tui.themes import THEMES
from tests.waiting import PATIENCE


class Host(App[None]):
    """Shows a screen and keeps what it was dismissed with."""

    def __init__(self, screen: Screen[Any]) -> None:
        super().__init__()
        self._first = screen
        self.results: list[Any] = []

    def on_mount(self) -> None:
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = THEMES[0].name
        self.push_screen(self._first, self.results.append)


async def until(pilot: Pilot[None], holds: Callable[[], bool]) -> None:
    """Wait until something holds; the screens look around in threads."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, seen(pilot)
        # A pause only at the end: for it each widget has to answer.
        await asyncio.sleep(0.03)
    await pilot.pause()


def seen(pilot: Pilot[None]) -> str:
    """All text on the screen, as a terminal shows it."""
    screen = pilot.app.screen
    lines = screen._compositor.render_strips(screen.size)
    return "\n".join("".join(segment.text for segment in strip) for strip in lines)


def text_of(pilot: Pilot[None], selector: str) -> str:
    """What a ``Static`` says."""
    return str(pilot.app.screen.query_one(selector, Static).content)


def keys(host: Host) -> str:
    """What the line at the bottom offers."""
    shown = [found.binding for found in host.screen.active_bindings.values()]
    return ", ".join(dict.fromkeys(binding.description for binding in shown if binding.show))

"""A stage for scenes: apps that hold still, and how a picture is taken of them."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from unittest import mock

from textual.app import App
from textual.binding import Binding
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input, TextArea

from gemma_local.app import folders
from gemma_local.app.options import AnswerOptions
from gemma_local.app.settings import Settings
from gemma_local.app.tui.app import GemmaLocalApp
from gemma_local.app.tui.commands.key_names import display
from gemma_local.app.tui.screens import help as help_page
from gemma_local.app.tui.screens.chat import ChatScreen
from gemma_local.app.tui.status.status import Status
from gemma_local.app.tui.status.status_line import StatusLine
from gemma_local.app.tui.themes import THEMES
from gemma_local.app.tui.transcript.item_pane import ItemPane

FOLDER: Final = Path("/home/you/weather")
"""Where the conversations are had."""
_PATIENCE: Final = 30.0
"""Seconds to wait for something to be seen."""
_VARIABLES: Final = ("NO_COLOR", "TMUX", "SSH_CONNECTION", "GEMMA_LOCAL_MODEL", "TERM_PROGRAM")

Show = Callable[[Pilot[None]], Awaitable[None]]


@dataclass(frozen=True)
class Scene:
    """``make`` an app with a theme, and what is done until there is something to be seen."""

    name: str
    make: Callable[[str], App[None]]
    show: Show


class PageStage(App[None]):
    """Nothing but one screen."""

    def __init__(self, make: Callable[[], Screen[Any]], theme: str) -> None:
        super().__init__()
        self._make = make
        for each in THEMES:
            self.register_theme(each)
        self.theme = theme

    def on_mount(self) -> None:
        self.push_screen(self._make())

    def get_key_display(self, binding: Binding) -> str:
        return display(binding)


class ChatStage(GemmaLocalApp):
    """The chat, without anybody who answers."""

    def __init__(self, theme: str, folder: Path = FOLDER) -> None:
        screen = {"theme": theme, "glyphs": "unicode", "animation": "none"}
        super().__init__(AnswerOptions(save=False), Settings.model_validate({"screen": screen}))
        self.folder = folder
        self.desk.open = lambda *_: None  # type: ignore[method-assign]


def chat_of(pilot: Pilot[None], status: Status) -> ChatScreen:
    """The chat, whose status line stays as it is from now on."""
    app = pilot.app
    assert isinstance(app, ChatStage)
    chat = app.chat
    chat.query_one(StatusLine).show(status)
    chat._show_status = lambda: None  # type: ignore[method-assign]
    chat._ticking.pause()
    return chat


async def until(pilot: Pilot[None], text: str, *, gone: bool = False) -> None:
    """Wait for what a thread brings onto the screen, or takes away from it."""
    end = asyncio.get_running_loop().time() + _PATIENCE
    while (text in _text(pilot)) is gone:
        assert asyncio.get_running_loop().time() < end, _text(pilot)
        await asyncio.sleep(0.01)
        await pilot.pause()


async def picture(scene: Scene, theme: str, size: tuple[int, int]) -> str:
    """The scene as SVG, the same on every machine."""
    app = scene.make(theme)
    app.animation_level = "none"
    try:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await scene.show(pilot)
            for field in app.screen.query("*"):
                if isinstance(field, Input | TextArea):
                    field.cursor_blink = False
            await app.workers.wait_for_complete()
            await pilot.pause()
            await _heights_known(pilot)
            return plain(app.export_screenshot(title="gemma-local"))
    finally:
        if isinstance(app, ChatStage):
            await asyncio.to_thread(app.desk.close)


async def _heights_known(pilot: Pilot[None]) -> None:
    """Wait for the items above and below the view to be painted: until then their heights are
    guesses, and the scrollbar with them."""
    panes = [pane for screen in pilot.app.screen_stack for pane in screen.query(ItemPane)]
    end = asyncio.get_running_loop().time() + _PATIENCE
    while any(list(pane._layout.unmeasured(pane._keep.index)) for pane in panes):
        assert asyncio.get_running_loop().time() < end
        await asyncio.sleep(0.01)
        await pilot.pause()


def plain(svg: str) -> str:
    """Without names that change with everything, and without what would come over a network."""
    svg = re.sub(r"terminal-\d+-", "", svg)
    svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code, monospace", "monospace").replace("Fira Code", "monospace")
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


@contextmanager
def nowhere(home: Path) -> Iterator[None]:
    """A home of its own, and nothing that another machine has otherwise."""
    names = ("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
    kept = {name: text for name, text in os.environ.items() if name not in _VARIABLES}
    own = {name: str(home / name) for name in names}
    own |= {"HOME": str(home), "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    with (
        mock.patch.dict(os.environ, {**kept, **own}, clear=True),
        mock.patch.object(help_page, "version_text", return_value="gemma-local 1.2.3"),
    ):
        folders.log_path.cache_clear()
        try:
            yield
        finally:
            folders.log_path.cache_clear()


def _text(pilot: Pilot[None]) -> str:
    screen = pilot.app.screen
    lines = screen._compositor.render_strips(screen.size)
    return "\n".join("".join(segment.text for segment in strip) for strip in lines)

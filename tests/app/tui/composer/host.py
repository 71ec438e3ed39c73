"""An app with nothing but a composer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from textual import events
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.widgets import Static

from gemma_local.app.draft_text import DraftText
from gemma_local.app.prompt_history import PromptHistory
from gemma_local.app.tui.commands.registry import COMMANDS
from gemma_local.app.tui.composer.completion import Completion
from gemma_local.app.tui.composer.composer import Composer
from gemma_local.app.tui.composer.prompt_area import PromptArea
from gemma_local.app.tui.glyphs import UNICODE, Glyphs
from gemma_local.app.tui.themes import DARK
from gemma_local.app.workspace.file_index import FileIndex
from tests.waiting import PATIENCE

_NAMED: Final = frozenset(
    [
        "enter",
        "escape",
        "tab",
        "up",
        "down",
        "left",
        "right",
        "home",
        "end",
        "backspace",
        "delete",
        "f3",
    ]
)


class Host(App[None]):
    """A transcript's place above, the composer below; it writes down what the composer says."""

    CSS = "#above { height: 1fr; } #below { height: 1; }"

    def __init__(self, folder: Path, state: Path, glyphs: Glyphs = UNICODE) -> None:
        super().__init__()
        self.history = PromptHistory(state, folder)
        self.drafts = DraftText(state, folder, every=0.01)
        self.composer = Composer(
            self.history, self.drafts, FileIndex(folder), COMMANDS, glyphs=glyphs
        )
        self.said: list[Message] = []

    def compose(self) -> ComposeResult:
        yield Static("", id="above")
        yield self.composer
        yield Static("", id="below")

    def on_mount(self) -> None:
        self.register_theme(DARK)
        self.theme = DARK.name
        self.composer.focus()

    def on_unmount(self) -> None:
        self.drafts.close()

    def on_composer_sent(self, message: Composer.Sent) -> None:
        self.said.append(message)

    def on_composer_unqueued(self, message: Composer.Unqueued) -> None:
        self.said.append(message)

    @property
    def area(self) -> PromptArea:
        return self.query_one(PromptArea)

    @property
    def popup(self) -> Completion:
        return self.query_one(Completion)

    def offered(self) -> str:
        """What would be taken."""
        return self.popup.chosen.label if self.popup.is_open and self.popup.chosen else ""

    @property
    def sent(self) -> list[str]:
        return [message.text for message in self.said if isinstance(message, Composer.Sent)]


@asynccontextmanager
async def hosted(
    tmp_path: Path, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[Host, Pilot[None]]]:
    """A running host whose folder is ``tmp_path/"folder"``."""
    folder = tmp_path / "folder"
    folder.mkdir(exist_ok=True)
    app = Host(folder, tmp_path / "state")
    async with app.run_test(size=size) as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        yield app, pilot


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys by name; of a text each character. Pilot's own way waits after each of them."""
    for text in keys:
        if len(text) > 1 and (text in _NAMED or "+" in text[1:-1]):
            pilot.app.post_message(events.Key(text, None))
        else:
            for character in text:
                pilot.app.post_message(events.Key(character, character))
    await pilot.pause()


async def until(pilot: Pilot[None], is_so: Callable[[], bool]) -> None:
    """Wait for something that comes from another thread."""
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, "it did not come about"
        await asyncio.sleep(0.01)

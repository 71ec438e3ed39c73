"""The whole app with a real engine, driven by keys."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from textual.pilot import Pilot

from gemma_local.app.dialogue import Dialogue
from gemma_local.app.options import AnswerOptions
from gemma_local.app.sessions.entry import Entry
from gemma_local.app.settings import Settings
from gemma_local.app.tui.app import GemmaLocalApp
from gemma_local.app.tui.composer.composer import Composer
from gemma_local.app.tui.screens.chat import ChatScreen
from gemma_local.app.tui.transcript.answer_item import AnswerItem
from gemma_local.app.tui.transcript.item import Item
from gemma_local.app.tui.transcript.person_item import PersonItem
from tests.ggufs import Pair
from tests.waiting import PATIENCE

STILL = Settings.model_validate({"screen": {"animation": "none"}})


@dataclass
class Chat:
    """The app and the hands on its keyboard."""

    app: GemmaLocalApp
    pilot: Pilot[None]

    @property
    def screen(self) -> ChatScreen:
        return self.app.chat

    @property
    def items(self) -> Sequence[Item]:
        return self.screen.transcript.items

    @property
    def answers(self) -> list[AnswerItem]:
        return [item for item in self.items if isinstance(item, AnswerItem)]

    @property
    def said(self) -> list[str]:
        """What the person said."""
        return [item.plain() for item in self.items if isinstance(item, PersonItem)]

    @property
    def text(self) -> str:
        """All of the transcript."""
        return "\n".join(item.plain() for item in self.items)

    @property
    def shown(self) -> str:
        """What is in view of the transcript."""
        pane = self.screen.transcript
        lines = (pane.render_line(y) for y in range(pane.size.height))
        return "\n".join("".join(segment.text for segment in line) for line in lines)

    @property
    def written(self) -> str:
        """What stands in the composer."""
        return self.screen.query_one(Composer).text

    async def until(self, is_so: Callable[[], object], seconds: float = PATIENCE) -> None:
        """Wait until something is the case."""
        end = time.monotonic() + seconds
        while not is_so():
            if time.monotonic() > end:
                raise AssertionError(f"it did not come to that; the screen says\n{self.text}")
            # Not the pilot's pause, for which each widget has to answer: that takes the processor
            # from what is waited for.
            await asyncio.sleep(0.02)

    async def ready(self) -> None:
        """Wait until the model is loaded and nothing goes on."""
        await self.until(lambda: self.screen.is_open and not self.screen.is_busy)

    async def entries(self) -> list[Entry]:
        """What is kept of the conversation."""
        found: list[Entry] = []
        done = asyncio.Event()
        loop = asyncio.get_running_loop()

        def look(dialogue: Dialogue) -> None:
            found.extend(dialogue.conversation.entries)
            loop.call_soon_threadsafe(done.set)

        self.app.desk.look(look)
        await asyncio.wait_for(done.wait(), PATIENCE)
        return found

    async def entry(self, number: int) -> Entry:
        """One of them."""
        return (await self.entries())[number - 1]

    def kill_engine(self) -> None:
        """As memory that runs out does."""
        pid = self.app.desk.engine_pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)

    async def send(self, text: str) -> None:
        """Write a text and send it."""
        self.screen.composer.write(text)
        await self.pilot.press("enter")

    async def ask(self, text: str) -> AnswerItem:
        """Send a message and wait for the end of its answer."""
        before = len(self.answers)
        await self.send(text)
        await self.until(lambda: len(self.answers) > before and not self.answers[-1].is_live)
        await self.ready()
        return self.answers[-1]


@asynccontextmanager
async def chatting(
    pair: Pair | None,
    *,
    size: tuple[int, int] = (80, 24),
    settings: Settings = STILL,
    toasts: bool = False,
    **options: object,
) -> AsyncIterator[Chat]:
    """The app with a pair, or with what it finds; in the folders that the environment names.
    ``toasts``: what goes by itself is shown."""
    wanted: dict[str, object] = {"threads": 1, "ctx": 1024, "temperature": 0.0, "seed": 1}
    if pair is not None:
        wanted["model"] = str(pair.target)
        # A length of its own: how far drafts pay differs from one machine to the next.
        wanted["draft"] = 3
    chosen = AnswerOptions(**{**wanted, **options})  # type: ignore[arg-type]
    app = GemmaLocalApp(chosen, settings)
    try:
        async with app.run_test(size=size, notifications=toasts) as pilot:
            yield Chat(app, pilot)
    finally:
        await asyncio.to_thread(app.end)

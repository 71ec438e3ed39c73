"""The page of figures: how fast it is, what that is due to, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from textual import on, work
from textual.message import Message
from textual.worker import Worker

from gemma_local.app.engine_memory import EngineMemory, engine_memory
from gemma_local.app.tui.charts.ink import Ink
from gemma_local.app.tui.charts.page import Page
from gemma_local.app.tui.charts.view import Write
from gemma_local.app.tui.glyphs import UNICODE, Glyphs
from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.status.measured import Measured
from gemma_local.app.tui.status.pace_section import pace_section
from gemma_local.app.tui.status.page_screen import PageScreen
from gemma_local.app.tui.status.pair_sections import cache_section, memory_section, pair_section
from gemma_local.app.tui.status.speed_sections import (
    answers_section,
    drafting_section,
    prompt_section,
    speed_section,
)
from gemma_local.engine.hardware.probes import SystemProbes

_SECONDS: Final = 1.0
"""Between two looks at the figures."""
_DEVICE_TURNS: Final = 5
"""Every how many of them the driver is asked about its cards: that starts a program."""


class StatsScreen(PageScreen):
    """Shows what was measured, and goes on while it is open."""

    @dataclass
    class Weighed(Message):
        """What the engine's process takes has been looked up."""

        memory: EngineMemory | None

    TITLE_TEXT = "Speed and memory"

    def __init__(self, measured: Measured, *, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(glyphs=glyphs)
        self._measured = measured
        self._memory: EngineMemory | None = None
        self._turn = 0
        self._weighing: Worker[None] | None = None

    def on_mount(self) -> None:
        self._look()
        self.set_interval(_SECONDS, self._look)

    def show(self, measured: Measured) -> None:
        """Another pair, or another process of the engine."""
        self._measured = measured
        self.renew()

    def written(self) -> Write:
        measured, memory = self._measured, self._memory

        def write(width: int, ink: Ink, glyphs: Glyphs) -> Sequence[Line]:
            page = Page(width, ink, glyphs)
            speed_section(page, measured)
            drafting_section(page, measured)
            pace_section(page, measured)
            answers_section(page, measured.log)
            prompt_section(page, measured.log)
            cache_section(page, measured.log.cache)
            memory_section(page, measured, memory)
            pair_section(page, measured)
            return page.lines

        return write

    def _look(self) -> None:
        self.renew()
        if self._weighing is not None and self._weighing.is_running:
            # A driver that does not answer holds its thread, which nobody can end: one of them.
            return
        asks_driver = self._measured.uses_device and self._turn % _DEVICE_TURNS == 0
        self._turn += 1
        self._weighing = self._weigh(self._measured.pid, asks_driver)

    @work(thread=True, group="engine memory", exit_on_error=False)
    def _weigh(self, pid: int | None, asks_driver: bool) -> None:
        self.post_message(self.Weighed(engine_memory(pid, SystemProbes() if asks_driver else None)))

    @on(Weighed)
    def _weighed(self, message: Weighed) -> None:
        found, before = message.memory, self._memory
        if found is not None and found.device is None and before is not None:
            # It was not asked about this time.
            found = EngineMemory(found.resident, found.mapped, before.device)
        if found != before and self.is_attached:
            self._memory = found
            self.renew()

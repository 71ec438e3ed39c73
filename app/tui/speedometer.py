"""What the status line shows, put together from the news."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gemma_local.app.context_window import Window
from gemma_local.app.sessions.titles import clipped
from gemma_local.app.speed_log import SpeedLog
from gemma_local.app.tui.news import (
    Answer,
    BrokenOff,
    ContestBegan,
    News,
    NotOpened,
    Opened,
    Planned,
    Used,
    Working,
)
from gemma_local.app.tui.status.measured import Measured
from gemma_local.app.tui.status.status import PairState, Status
from gemma_local.engine.messages import Done, Failed, Loading, Prefill, Ready, Stats
from gemma_local.models.pocket import LABEL, is_pocket

if TYPE_CHECKING:
    from gemma_local.app.agent.consent import Mode
    from gemma_local.app.launch import Launch
    from gemma_local.app.options import AnswerOptions
    from gemma_local.app.plain_speed import PlainSpeed

_LONGEST_NAME = 20


class Speedometer:
    """Listens to the news, and knows how fast it goes."""

    def __init__(self, mode: Mode) -> None:
        self.log = SpeedLog()
        self.launch: Launch | None = None
        self.ready: Ready | None = None
        self._plain: PlainSpeed | None = None
        self._status = Status(mode=mode)
        self._label = ""
        self._cached: int | None = None

    @property
    def cached(self) -> int | None:
        """Tokens of the conversation that need not be read again, None if that is not known."""
        return self._cached

    def hear(self, news: Sequence[News]) -> None:
        """Take in what happened."""
        for piece in news:
            self._take(piece, time.monotonic())

    def measured(self, pid: int | None) -> Measured:
        """For the page of figures; ``pid`` is the engine's process."""
        return Measured(self.log, self.ready, self.launch, self._plain, pid, self._label)

    def status(
        self, options: AnswerOptions, mode: Mode, *, queued: int, alive: bool, note: str
    ) -> Status:
        """What there is to show now."""
        status = replace(
            self._status,
            pair=self._pair(options, alive=alive),
            thinking=options.think is not None,
            mode=mode,
            label=self._label,
            queued=queued,
            note=note,
        )
        tally, log = self.log.tally, self.log
        if log.is_decoding and tally is not None and self._status.context_size:
            used = tally.prompt_tokens + tally.emitted_tokens
            status = replace(status, context_used=used)
        return status.measured(log, self.measured(None).gain)

    # ---------------------------------------------------------------------------------- inside

    def _take(self, news: News, at: float) -> None:
        match news:
            case Loading() | Prefill() | Stats():
                self.log.add(news, at)
            case Planned():
                self.launch = news.launch
                self._status = replace(self._status, model=_name(news.launch, None))
            case NotOpened():
                self.launch, self.log.loading = None, None
                self._status = replace(self._status, model="")
            case Opened():
                self._open(news, at)
            case Answer():
                self._end(news.answered.done, news.label, at)
            case BrokenOff():
                self.log.add(Failed(None, news.sentence), at)
            case Working(what="") | ContestBegan():
                # Also after an engine that was started again, which tells no more than that.
                self.log.loading = None
            case Used():
                self._status = self._status.filled(news.use)

    def _open(self, news: Opened, at: float) -> None:
        self.log.add(news.ready, at)
        if news.ready != self.ready:
            # Not at the top: it brings the plan with it, and before there is a pair there is none.
            from gemma_local.app.plain_speed import PlainSpeed

            # What drafting gains in seconds is no question at such a size.
            is_toy = is_pocket(news.ready.name)
            self._plain = None if is_toy else PlainSpeed.remembered(news.launch, news.ready)
        self.launch, self.ready, self._label = news.launch, news.ready, ""
        window = Window(news.ready.context)
        self._cached = None
        self._status = replace(
            self._status,
            model=_name(news.launch, news.ready),
            context_used=0,
            context_size=window.size,
            warn_at=window.warn_at,
            compact_at=window.compact_at,
        )

    def _end(self, done: Done, label: str, at: float) -> None:
        self.log.add(done, at)
        if self._plain is not None:
            self._plain.observe(done)
        self._label = label
        self._cached = done.cache.tokens or None
        used = done.tally.prompt_tokens + done.tally.emitted_tokens
        self._status = replace(self._status, context_used=used)

    def _pair(self, options: AnswerOptions, *, alive: bool) -> PairState:
        if self.log.loading is not None:
            return "loading"
        if self.ready is None:
            return "loading" if self.launch is not None else "none"
        if not alive:
            return "down"
        if not self.ready.drafter:
            return "no drafter"
        return "off" if options.draft == 0 else "ready"


def _name(launch: Launch, ready: Ready | None) -> str:
    """What the model is called where there is little room."""
    if is_pocket(launch.target.name):
        return LABEL
    if launch.planned is not None and launch.target.is_gemma4:
        return launch.planned.candidate.label
    return clipped(ready.name if ready is not None else launch.target.path.stem, _LONGEST_NAME)

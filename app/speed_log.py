"""What a session measured: the answer that is coming, those that came, the prompt that is read.

Fed with the engine's events, it answers what a status line and a page of figures ask. Speeds are
differences of tallies over the engine's own clock, so that how often the screen looks changes
nothing. Whoever adds also reads: it is not for several threads at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from gemma_local.app.speed_course import SpeedCourse
from gemma_local.app.speed_record import LEAST_READ
from gemma_local.app.tallies import add
from gemma_local.engine.messages import (
    CacheUse,
    Done,
    Event,
    Failed,
    Loading,
    Prefill,
    Ready,
    SourceTally,
    Stats,
    Tally,
)

WINDOW: Final = 2.0
"""Seconds over which the speed of the moment is taken: some tens of passes on a usual machine."""

_KEPT: Final = 500
"""Answers that are remembered one by one; the sums go over all."""
_READ: Final = "read"


@dataclass(frozen=True, slots=True)
class Reading:
    """A prompt that is being read: ``done`` of ``total`` tokens, ``reused`` of which were in the
    cache. Speed and time are None until they can be told."""

    done: int
    total: int
    reused: int
    tokens_per_second: float | None = None
    seconds_left: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that has ended, at ``at`` seconds of the clock that events were added with."""

    at: float
    reason: str
    tally: Tally
    exact: bool
    course: SpeedCourse

    @property
    def longest_draft(self) -> int:
        """Tokens of its longest draft, 0 without one."""
        return len(self.tally.drafted_by_position)


@dataclass(frozen=True, slots=True)
class Reuse:
    """Prompts of a session: tokens that were read, tokens that were in the cache already, and the
    seconds that reading those as well would have taken, None where no speed of reading is known."""

    read: int
    reused: int
    read_seconds: float
    saved_seconds: float | None


@dataclass(slots=True)
class _Running:
    id: str
    tally: Tally = field(default_factory=Tally)
    course: SpeedCourse = field(default_factory=SpeedCourse)


class SpeedLog:
    """Everything that was measured since the session began."""

    def __init__(self) -> None:
        self.loading: Loading | None = None
        """How far loading is, None when nothing is loaded."""
        self.reading: Reading | None = None
        """The prompt that is being read, None when none is."""
        self.answers: deque[Answer] = deque(maxlen=_KEPT)
        """The last answers, the oldest first."""
        self.session = Tally()
        """All answers together."""
        self.drafting = Tally()
        """Those of them in which something was drafted."""
        self.cache = CacheUse()
        self.ended = 0
        """How many answers came to their end."""
        self._running: _Running | None = None
        self._prefill: deque[tuple[float, int]] = deque()
        self._prefill_id = ""
        # Reading is only measured by prompts that are long enough to say something.
        self._read_tokens = 0
        self._read_seconds = 0.0

    def add(self, event: Event, at: float) -> None:
        """Take an event in. ``at`` is when it came, in seconds of any clock that only goes on.

        Events that measure nothing are ignored.
        """
        match event:
            case Loading():
                self.loading = event
            case Ready():
                self.loading = None
            case Prefill():
                self._read(event, at)
            case Stats() if event.tally.emitted_tokens:
                # Others come while the prompt is still being read.
                self.reading = None
                self._count(event.id, event.tally)
            case Done():
                self._end(event, at)
            case Failed():
                self.reading = self._running = self.loading = None
            case _:
                pass

    # ------------------------------------------------------------------------------ this answer

    @property
    def is_decoding(self) -> bool:
        """Whether an answer is coming."""
        return self._running is not None and self.reading is None

    @property
    def tally(self) -> Tally | None:
        """Of the answer that is coming, or of the last one; None before the first."""
        if self._running is not None:
            return self._running.tally
        return self.answers[-1].tally if self.answers else None

    @property
    def course(self) -> SpeedCourse | None:
        """Of the answer that is coming, or of the last one; None before the first."""
        if self._running is not None:
            return self._running.course
        return self.answers[-1].course if self.answers else None

    @property
    def tokens_per_second(self) -> float | None:
        """While an answer comes: over the last `WINDOW` seconds. Else that of the last answer."""
        if self._running is not None:
            running = self._running.course
            return running.now(WINDOW) if running.seconds else None
        return self.answers[-1].tally.tokens_per_second if self.answers else None

    # ------------------------------------------------------------------------------ the session

    @property
    def sources(self) -> Mapping[str, SourceTally]:
        """Who drafted how much in all answers, by name; those that drafted nothing are left out."""
        return {source.name: source for source in self.session.sources if source.drafted}

    @property
    def reading_speed(self) -> float | None:
        """Tokens a second at which prompts were read, None until enough was."""
        return self._read_tokens / self._read_seconds if self._read_seconds > 0 else None

    @property
    def reuse(self) -> Reuse:
        """What the cache spared."""
        speed, tally = self.reading_speed, self.session
        return Reuse(
            read=tally.prefilled_tokens,
            reused=tally.reused_tokens,
            read_seconds=tally.prefill_seconds,
            saved_seconds=tally.reused_tokens / speed if speed else None,
        )

    # ----------------------------------------------------------------------------------- inside

    def _read(self, event: Prefill, at: float) -> None:
        if event.id != self._prefill_id:
            self._prefill_id = event.id
            self._prefill.clear()
        if event.done >= event.total:
            self.reading = None
            return
        self._prefill.append((at, event.done))
        while len(self._prefill) > 2 and self._prefill[1][0] < at - WINDOW:
            self._prefill.popleft()
        speed = self._reading_now() or self.reading_speed
        left = (event.total - event.done) / speed if speed else None
        self.reading = Reading(event.done, event.total, event.reused, speed, left)

    def _reading_now(self) -> float | None:
        """Tokens a second between the slices of the last `WINDOW` seconds, or the last two slices
        where they take longer."""
        (begun, first), (now, last) = self._prefill[0], self._prefill[-1]
        return (last - first) / (now - begun) if now > begun and last > first else None

    def _count(self, request: str, tally: Tally) -> None:
        if self._running is None or self._running.id != request:
            self._running = _Running(request)
        self._running.tally = tally
        self._running.course.add(tally.decode_seconds, tally.decoded_tokens)

    def _end(self, event: Done, at: float) -> None:
        self.reading = None
        self.cache = event.cache
        if event.reason == _READ:
            return
        self._count(event.id, event.tally)
        running, self._running = self._running, None
        assert running is not None
        tally = event.tally
        self.ended += 1
        self.session = add([self.session, tally])
        if tally.drafted:
            self.drafting = add([self.drafting, tally])
        if tally.prefilled_tokens >= LEAST_READ:
            self._read_tokens += tally.prefilled_tokens
            self._read_seconds += tally.prefill_seconds
        self.answers.append(Answer(at, event.reason, tally, event.exact, running.course))

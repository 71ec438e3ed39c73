"""Answers to requests that are parts of no conversation, made by several threads at once."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from gemma_local.app import folders
from gemma_local.app.answer import Answer
from gemma_local.app.exactness_record import ExactnessRecord, deserves_label
from gemma_local.app.launch import Launch
from gemma_local.app.live_answer import Listener, LiveAnswer
from gemma_local.app.record import Unsaved
from gemma_local.app.report import answer_report
from gemma_local.app.stop import Stop
from gemma_local.app.terminal import note
from gemma_local.engine.client import Engine
from gemma_local.engine.messages import Delta, Done, Event, Generate
from gemma_local.models.guest_reply import reply_for
from gemma_local.models.message import Opening
from gemma_local.models.reply import Part


class Answering:
    """Has requests answered by one engine. Any thread may ask."""

    def __init__(self, engine: Engine, launch: Launch, stop: Stop) -> None:
        assert engine.ready is not None
        self.tokens = 0
        """Of all answers, made so far."""
        self._engine = engine
        self._ready = engine.ready
        self._launch = launch
        self._stop = stop
        self._lock = threading.Lock()
        self._exactness = ExactnessRecord(folders.exactness_path())
        self._mourned: set[int | None] = set()

    def answer(
        self, request: Generate, opening: Opening, listener: Listener | None = None
    ) -> tuple[Done, dict[str, object]]:
        """How the answer to a request ended, and the keys of ``--output json``.

        ``listener`` hears it come. Raises EngineFailed; EngineDied if the engine died of it twice.
        """
        is_gemma4 = self._launch.target.is_gemma4
        reply = reply_for(is_gemma4, self._ready.markers, (), opening)
        ear = _Ear(self, listener, self._engine.pid)
        live = LiveAnswer(reply, Unsaved().stream(), ear, has_tools=False)
        done = Answer(self._engine, request, live.event, ear.died, self._stop).run()
        message = live.finish(done)
        load, sampling = self._launch.load, request.sampling
        exact = deserves_label(self._exactness, self._ready, load, sampling, done)
        return done, answer_report(message, done, self._ready, sampling, exact=exact)

    def count(self, tokens: int) -> None:
        """So many more were made."""
        with self._lock:
            self.tokens += tokens

    def mourn(self, pid: int | None, why: str) -> None:
        """The engine's process died: every answer hears of it, the person once."""
        with self._lock:
            is_news = pid not in self._mourned
            self._mourned.add(pid)
        if is_news and not self._stop.is_asked:
            note(f"{why}; starting it again to go on")


class _Ear:
    """Counts what is said, and passes it on."""

    def __init__(self, answering: Answering, listener: Listener | None, pid: int | None) -> None:
        """``pid``: the process that begins with the answer."""
        self._answering = answering
        self._listener = listener
        self._pid = pid

    def event(self, event: Event) -> None:
        if self._listener is not None:
            self._listener.event(event)

    def parts(self, parts: Sequence[Part], drafted: Sequence[bool], delta: Delta | None) -> None:
        if delta is not None:
            self._answering.count(len(delta.tokens))
        if self._listener is not None:
            self._listener.parts(parts, drafted, delta)

    def died(self, why: str) -> None:
        self._answering.mourn(self._pid, why)
        if self._listener is not None:
            self._listener.died(why)

    def notice(self, sentence: str) -> None:
        if self._listener is not None:
            self._listener.notice(sentence)

"""One answer from the engine, brought to its end although the engine's process may die once."""

from __future__ import annotations

from collections.abc import Callable

from gemma_local.app.interrupts import first_interrupt_calls
from gemma_local.app.stop import Stop
from gemma_local.engine.client import Engine, EngineDied, EngineFailed, resume
from gemma_local.engine.messages import Delta, Done, Event, Failed, Generate, Loading, Stats, Tally

OnEvent = Callable[[Event], None]
OnDeath = Callable[[str], None]


class Answer:
    """Runs a request and keeps what came of it.

    ``text`` and ``deltas`` grow while it runs and stay when it fails: what was on screen is here.
    """

    def __init__(
        self,
        engine: Engine,
        request: Generate,
        on_event: OnEvent,
        on_death: OnDeath,
        stop: Stop | None = None,
    ) -> None:
        """``on_event`` hears the engine's events, ``on_death`` why its process ended, when it is
        about to be started again. ``stop`` ends the answer, as Ctrl-C does."""
        self.deltas: list[Delta] = []
        self._engine = engine
        self._request = request
        self._on_event = on_event
        self._on_death = on_death
        self._running = request
        self._tally = Tally()
        self._stop = Stop() if stop is None else stop

    @property
    def text(self) -> str:
        """What was answered so far."""
        return "".join(delta.text for delta in self.deltas)

    @property
    def tokens(self) -> tuple[int, ...]:
        """The answer's tokens so far."""
        return tuple(token for delta in self.deltas for token in delta.tokens)

    def run(self) -> Done:
        """Run to the end. A stop or the first Ctrl-C ends the answer, with the reason "cancelled".

        Raises EngineFailed, EngineDied when the process died twice, KeyboardInterrupt at the
        second Ctrl-C.
        """
        with first_interrupt_calls(self._stop.ask), self._stop.calling(self._cancel):
            if self._is_stopped():
                return self._cut_short()
            last = self._attempt()
            if isinstance(last, Failed) and last.died:
                if self._is_stopped():
                    return self._cut_short()
                self._on_death(last.message)
                self._restart()
                if self._is_stopped():
                    return self._cut_short()
                self._running = resume(self._request, self.deltas)
                last = self._attempt()
        if isinstance(last, Failed):
            raise (EngineDied if last.died else EngineFailed)(last.message)
        return last

    def _attempt(self) -> Done | Failed:
        for event in self._engine.generate(self._running):
            match event:
                case Delta():
                    self.deltas.append(event)
                case Stats():
                    self._tally = event.tally
                case Done() | Failed():
                    return event
            if self._is_stopped():
                # The stop may have overtaken the request itself, and been ignored.
                self._engine.cancel(self._running.id)
            self._on_event(event)
        raise AssertionError("a request ends with Done or Failed")

    def _restart(self) -> None:
        try:
            self._engine.restart(self._on_loading)
        except EngineFailed as error:
            raise EngineDied(f"the engine cannot be started again: {error}") from error

    def _on_loading(self, event: Loading) -> None:
        self._on_event(event)

    def _is_stopped(self) -> bool:
        # A method: it may be true the second time.
        return self._stop.is_asked

    def _cancel(self) -> None:
        self._engine.cancel(self._running.id)

    def _cut_short(self) -> Done:
        return Done(self._request.id, "cancelled", self._tally, self.tokens)

"""A contest: attempts at one task, as many at once as the engine has sequences."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from gemma_local.app.best.attempt import Attempt, Outcome
from gemma_local.app.best.copies import Copies
from gemma_local.app.best.errors import Ended, NoAttempts
from gemma_local.app.best.ground import Ground
from gemma_local.app.best.judge import Judge
from gemma_local.app.best.ranking import Place, ranked
from gemma_local.app.best.scratch import Scratch
from gemma_local.app.best.standing import Standing, Tell, Watch
from gemma_local.app.best.wish import Wish
from gemma_local.app.interrupts import first_interrupt_calls
from gemma_local.app.stop import Stop
from gemma_local.app.unexpected import log_unexpected
from gemma_local.models.errors import GemmaLocalError

_MOMENT = 0.1
_FAREWELL = 10.0
"""Seconds that attempts are waited for when all of it is broken off."""


@dataclass(frozen=True, slots=True)
class Result:
    """``outcomes`` by number, ``places`` the best first. ``seconds`` is how long all of it took,
    ``tokens_per_second`` what all attempts wrote together in it."""

    wish: Wish
    command: str
    outcomes: tuple[Outcome, ...]
    places: tuple[Place, ...] = field(init=False)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "places", ranked(self.outcomes))

    @property
    def best(self) -> Outcome | None:
        """The attempt to offer, None if the best of them has changed nothing."""
        first = self.places[0].outcome
        return first if first.changes.files else None

    @property
    def passing(self) -> int:
        """How many pass."""
        return sum(outcome.passes for outcome in self.outcomes)

    @property
    def tokens_per_second(self) -> float:
        """Tokens of all attempts over the time that all of it took."""
        return sum(outcome.tokens for outcome in self.outcomes) / max(self.seconds, 1e-9)

    def place_of(self, number: int) -> Place:
        """Where attempt ``number`` came in."""
        return next(place for place in self.places if number in place.numbers)


class Contest:
    """Used once. ``tell`` and ``say`` are called by the attempts' threads, one at a time."""

    def __init__(
        self, ground: Ground, wish: Wish, judge: Judge, tell: Tell, say: Callable[[str], None]
    ) -> None:
        """``tell`` hears how each attempt stands, ``say`` sentences for the person."""
        self._ground = ground
        self._wish = wish
        self._judge = judge
        self._say = say
        telling = threading.Lock()

        def told(standing: Standing) -> None:
            with telling:
                tell(standing)

        def said(sentence: str) -> None:
            with telling:
                say(sentence)

        assert ground.engine.ready is not None
        self._sequences = threading.Semaphore(min(wish.count, ground.engine.ready.sequences))
        self._copying = threading.Lock()
        self._watches = [Watch(number, told, said) for number in range(1, wish.count + 1)]
        self._outcomes: dict[int, Outcome] = {}

    def run(self, stop: Stop) -> Result:
        """Have all attempts made. Afterwards nothing of them is left on the disk, and nothing runs.

        Raises NoAttempts, also if none of them came to anything, and Ended if ``stop`` or the first
        Ctrl-C ended it.
        """
        if self._ground.remark:
            self._say(self._ground.remark)
        start = time.monotonic()
        scratch = Scratch.make()
        try:
            with first_interrupt_calls(stop.ask):
                self._run(scratch, stop)
        finally:
            scratch.remove()
        if stop.is_asked:
            raise Ended
        outcomes = tuple(self._outcomes[number] for number in sorted(self._outcomes))
        if all(outcome.end == "failed" for outcome in outcomes):
            raise NoAttempts(outcomes[0].problem)
        seconds = time.monotonic() - start
        return Result(self._wish, self._judge.command, outcomes, seconds=seconds)

    def _run(self, scratch: Scratch, stop: Stop) -> None:
        def check() -> None:
            if stop.is_asked:
                raise Ended

        copies = Copies(
            self._ground.bench.kit.workspace.folder,
            scratch,
            self._wish.count,
            is_confined=self._ground.bench.sandbox.is_any,
            check=check,
        )
        threads = [
            threading.Thread(target=self._attempt, args=(watch, copies, stop), daemon=True)
            for watch in self._watches
        ]
        for thread in threads:
            thread.start()
        try:
            while any(thread.is_alive() for thread in threads):
                threads[0].join(_MOMENT)
                threads = [thread for thread in threads if thread.is_alive()] or threads[:1]
        except BaseException:
            # Nothing may write into what is about to be removed.
            stop.ask()
            for thread in threads:
                thread.join(_FAREWELL)
            raise

    def _attempt(self, watch: Watch, copies: Copies, stop: Stop) -> None:
        """One attempt from its copy to its outcome, in a thread of its own."""
        number = watch.standing.number
        attempt = Attempt(number, self._wish.text, self._ground, copies, self._judge, watch)
        try:
            while not self._sequences.acquire(timeout=_MOMENT):
                if stop.is_asked:
                    raise Ended
            try:
                watch.change("copying")
                with self._copying:
                    copy = copies.make(str(number))
                outcome = attempt.run(copy, stop)
            finally:
                self._sequences.release()
            copy.remove()
            watch.change("done", _how(outcome))
        except Ended:
            watch.change("stopped")
            return
        except GemmaLocalError as error:
            outcome = attempt.failed(str(error))
        except Exception as error:  # noqa: BLE001 - the other attempts go on
            outcome = attempt.failed(log_unexpected(error))
        if outcome.end == "failed":
            watch.change("failed", outcome.problem)
        self._outcomes[number] = outcome


def _how(outcome: Outcome) -> str:
    if outcome.judged is None:
        return outcome.problem
    if not outcome.changes.files:
        return "changed nothing"
    return "passes" if outcome.passes else outcome.judged.how

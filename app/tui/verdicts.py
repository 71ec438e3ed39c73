"""The person's answers, on their way to the thread that waits for them."""

from __future__ import annotations

import threading
from collections.abc import Callable

from gemma_local.app.agent.consent import Proposal, Verdict
from gemma_local.app.stop import Stop

NO = Verdict("no")


class Verdicts:
    """The desk asks and waits; the screen shows the question and gives the answer."""

    def __init__(self, show: Callable[[Proposal], None]) -> None:
        """``show`` brings a proposal to the screen."""
        self._show = show
        self._lock = threading.Lock()
        self._waiting: dict[str, tuple[threading.Event, list[Verdict]]] = {}

    def ask(self, proposal: Proposal, stop: Stop) -> Verdict:
        """Ask, and wait for the answer; a stop is a no. In the thread that waits."""
        given, answer = threading.Event(), list[Verdict]()
        with self._lock:
            self._waiting[proposal.id] = (given, answer)
        self._show(proposal)
        with stop.calling(given.set):
            given.wait()
        with self._lock:
            del self._waiting[proposal.id]
        return answer[0] if answer else NO

    def give(self, id: str, verdict: Verdict) -> None:  # noqa: A002 - the proposal's name for it
        """The person has answered. From any thread; an answer that comes too late is nothing."""
        with self._lock:
            waiting = self._waiting.get(id)
        if waiting is not None:
            given, answer = waiting
            answer.append(verdict)
            given.set()

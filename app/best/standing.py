"""How far an attempt is, for whoever watches."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from gemma_local.app.agent.events import ToolEnded, ToolEvent, ToolStarted
from gemma_local.app.assistant import Answered
from gemma_local.engine.messages import Delta, Event, Prefill, Stats
from gemma_local.models.reply import Part

State = Literal[
    "waiting", "copying", "reading", "writing", "calling", "judging", "done", "stopped", "failed"
]


@dataclass(frozen=True, slots=True)
class Standing:
    """``detail`` is what it calls, or how it ended; ``tokens`` are those that it has written,
    ``speed`` tokens a second of the answer that it writes now, 0 between two."""

    number: int
    state: State = "waiting"
    detail: str = ""
    tokens: int = 0
    speed: float = 0.0
    calls: int = 0


Tell: TypeAlias = Callable[[Standing], None]


class Watch:
    """Hears an attempt's turn and keeps its standing. ``tell`` is called by the attempt's thread.

    Sentences for the person go to ``say``, those of all attempts to the same.
    """

    def __init__(self, number: int, tell: Tell, say: Callable[[str], None]) -> None:
        self._tell = tell
        self._say = say
        self._lock = threading.Lock()
        self._standing = Standing(number)
        self._before = 0
        self.read = 0
        """Tokens of its prompts that had to be computed; those that others had read are not."""

    @property
    def standing(self) -> Standing:
        """How it stands now. From any thread."""
        with self._lock:
            return self._standing

    def change(self, state: State, detail: str = "") -> None:
        """It does something else now."""
        self._set(replace(self._standing, state=state, detail=detail, speed=0.0))

    # -------------------------------------------------------------------- the listener of the turn

    def event(self, event: Event) -> None:
        match event:
            case Prefill() if self._standing.state != "reading":
                self.change("reading")
            case Stats(tally=tally) if tally.emitted_tokens:
                self._set(
                    replace(
                        self._standing,
                        state="writing",
                        detail="",
                        tokens=self._before + tally.emitted_tokens,
                        speed=tally.tokens_per_second,
                    )
                )

    def parts(self, parts: Sequence[Part], drafted: Sequence[bool], delta: Delta | None) -> None:
        if parts and self._standing.state != "writing":
            self.change("writing")

    def died(self, why: str) -> None:
        self._say(f"attempt {self._standing.number}: {why}; it goes on in a new engine")

    def notice(self, sentence: str) -> None:
        # What concerns one answer among many is not for the person.
        pass

    def tool(self, event: ToolEvent) -> None:
        match event:
            case ToolStarted():
                self.change("calling", f"{event.tool} {event.title}")
            case ToolEnded():
                calls = self._standing.calls + 1
                self._set(replace(self._standing, calls=calls))

    def answered(self, answered: Answered) -> None:
        self._before += answered.done.tally.emitted_tokens
        self.read += answered.done.tally.prefilled_tokens
        self._set(replace(self._standing, tokens=self._before, speed=0.0))

    def told(self, texts: Sequence[str]) -> None:
        pass

    def _set(self, standing: Standing) -> None:
        with self._lock:
            self._standing = standing
        self._tell(standing)

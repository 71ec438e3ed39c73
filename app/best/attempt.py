"""One attempt: a turn of the model's in a copy of the files, judged by the command."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Literal

from gemma_local.app.agent.loop import Agent
from gemma_local.app.agent.tools.task import Barred
from gemma_local.app.agent.turn import End, Turned
from gemma_local.app.agent.workbench import LARGE, Workbench
from gemma_local.app.assistant import Answered, Assistant
from gemma_local.app.best.changes import Changes, changes_of
from gemma_local.app.best.copies import Copies, Copy
from gemma_local.app.best.errors import Ended
from gemma_local.app.best.ground import Ground, message_of
from gemma_local.app.best.judge import Judge, Judged
from gemma_local.app.best.standing import Watch
from gemma_local.app.prompts import prompt_writer
from gemma_local.app.record import Unsaved
from gemma_local.app.requests import request, sampling
from gemma_local.app.stop import Stop
from gemma_local.models.pocket import is_pocket
from gemma_local.models.prompt import Text

_ALONE: Final = "There is no helper here. Look for yourself, with search, list and read."


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an attempt. ``judged`` is None where nothing could be judged; then ``problem``
    says why. ``report`` is what the model said at the end, ``tokens`` are those that it wrote,
    ``read`` those of its prompts that had to be computed."""

    number: int
    seed: int
    end: End | Literal["failed"]
    changes: Changes
    judged: Judged | None
    report: str
    calls: int
    tokens: int
    read: int
    seconds: float
    problem: str = ""

    @property
    def passes(self) -> bool:
        """Whether the command was content with it."""
        return self.judged is not None and self.judged.passes

    @property
    def lines(self) -> int:
        """Lines added and removed."""
        return sum(self.changes.counts)


class Attempt:
    """Number ``number`` of a contest, counted from 1."""

    def __init__(
        self, number: int, task: str, ground: Ground, copies: Copies, judge: Judge, watch: Watch
    ) -> None:
        self._number = number
        self._task = task
        self._ground = ground
        self._copies = copies
        self._judge = judge
        self._watch = watch
        self._options = ground.options_of(number)

    def run(self, copy: Copy, stop: Stop) -> Outcome:
        """Have the task done in ``copy`` and judged. Raises Ended, GemmaLocalError."""
        start = time.monotonic()
        environment = copy.environment(os.environ, self._copies.real)
        with self._agent(copy, environment) as agent:
            turned = agent.turn(stop)
        if stop.is_asked:
            raise Ended
        return self._judged(copy, turned, environment, start, stop)

    def failed(self, problem: str) -> Outcome:
        """What there is of an attempt that something went wrong with."""
        standing = self._watch.standing
        return Outcome(
            self._number,
            self._seed,
            "failed",
            Changes(),
            None,
            "",
            standing.calls,
            standing.tokens,
            self._watch.read,
            0.0,
            problem,
        )

    @property
    def _seed(self) -> int:
        assert self._options.seed is not None
        return self._options.seed

    @contextmanager
    def _agent(self, copy: Copy, environment: dict[str, str]) -> Iterator[Agent]:
        """Who works in ``copy``, with the task said."""
        ground, options = self._ground, self._options
        is_gemma4 = ground.target.is_gemma4
        terms = ground.terms_of(self._judge.rule(copy.root))
        bench = Workbench.open(
            copy.root,
            ground.window,
            terms,
            lambda text: ground.engine.count([(Text(text),)])[0],
            is_gemma4=is_gemma4,
            is_large=ground.target.parameter_count > LARGE,
            is_terse=is_pocket(ground.target.name),
            environment=environment,
            seen=ground.bench.kit.seen.moved(self._copies.real, copy.root),
            task=None if ground.bench.task is None else Barred(ground.bench.task, _ALONE),
        )
        try:
            entries = ground.conversation.entries
            record = Unsaved(entries[-1].number + 1 if entries else 1)
            # A writer of its own: that of a guest remembers the last prompt.
            conversation = ground.conversation.twin(record, writer=prompt_writer(ground.target))
            assistant = Assistant(
                ground.engine,
                conversation,
                self._watch,
                lambda rendering: request(rendering, options, is_gemma4=is_gemma4),
                is_gemma4=is_gemma4,
            )

            def answer(stop: Stop, temperature: float | None) -> Answered:
                return assistant.answer(None, stop, temperature=temperature)

            usual = sampling(options, is_gemma4=is_gemma4).temperature
            agent = Agent(assistant, bench, terms, self._watch, answer, temperature=usual)
            said, info = agent.with_notes(message_of(self._task, self._judge.command))
            conversation.ask(said, info=info)
            yield agent
        finally:
            bench.close()

    def _judged(
        self, copy: Copy, turned: Turned, environment: dict[str, str], start: float, stop: Stop
    ) -> Outcome:
        watch, judged, problem = self._watch, None, ""
        try:
            # Before the command has left anything of its own.
            changes = changes_of(self._copies.base, copy)
        except OSError as error:
            changes, problem = Changes(), f"its changes could not be read: {error}"
        if not problem:
            watch.change("judging")
            judged = self._judge.judge(copy.root, environment, stop)
        message = turned.answered.message
        return Outcome(
            self._number,
            self._seed,
            turned.end,
            changes,
            judged,
            message.text.strip() if message is not None else "",
            len(turned.calls),
            watch.standing.tokens,
            watch.read,
            time.monotonic() - start,
            problem,
        )

"""A batch while it runs: questions go out as there is room, answers are written in order."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Final

from gemma_local.app.answering import Answering
from gemma_local.app.batch.answer_file import AnswerFile
from gemma_local.app.batch.question import BadQuestion, digest, read_question
from gemma_local.app.durations import rough_time_left
from gemma_local.app.options import BatchOptions
from gemma_local.app.prompts import PromptWriter
from gemma_local.app.requests import request
from gemma_local.app.stop import Stop
from gemma_local.app.terminal import progress
from gemma_local.engine.client import EngineDied, EngineFailed
from gemma_local.engine.messages import Generate
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.message import Opening

_AHEAD: Final = 64
"""Questions that may be answered, for each sequence, while one before them is still not."""
_SHOW_SECONDS: Final = 0.25

Record = dict[str, object]


@dataclass(slots=True)
class _Pending:
    """A question whose answer is not written yet; ``known`` are the keys that it begins with."""

    known: Record
    answer: Future[Record | None] = field(default_factory=Future)


class Batch:
    """``done`` and ``failed`` count lines, those of earlier runs included."""

    def __init__(
        self,
        options: BatchOptions,
        answering: Answering,
        writer: PromptWriter,
        answers: AnswerFile,
        *,
        sequences: int,
        total: int | None,
        stop: Stop,
        is_gemma4: bool,
    ) -> None:
        """``total``: lines there are, if that is known. ``stop`` ends it early."""
        self.done, self.failed = answers.earlier, answers.earlier_errors
        self._options = options
        self._answering = answering
        self._writer = writer
        self._answers = answers
        self._sequences = sequences
        self._total = total
        self._stop = stop
        self._is_gemma4 = is_gemma4
        self._began = time.monotonic()
        self._pending: deque[_Pending] = deque()

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self._began

    @property
    def speed(self) -> float:
        """Tokens a second of all answers together."""
        return self._answering.tokens / max(self.seconds, 1e-9)

    def run(self, lines: Iterator[tuple[int, bytes]]) -> None:
        """Answer lines, given with their numbers, and write the answers.

        Raises EngineDied, AnswersNotWritten, UsageError for questions that cannot be read, and
        KeyboardInterrupt; what was answered before is written.
        """
        # One more than run at once is always ready to begin.
        pool = ThreadPoolExecutor(2 * self._sequences)
        try:
            for number, line in lines:
                self._pending.append(self._asked(pool, number, line))
                while self._is_full and not self._stop.is_asked:
                    self._write_ready()
                if self._stop.is_asked:
                    return
            while self._pending and not self._stop.is_asked:
                self._write_ready()
        finally:
            self._stop.ask()
            pool.shutdown(cancel_futures=True)
            progress.clear()

    def _asked(self, pool: ThreadPoolExecutor, number: int, line: bytes) -> _Pending:
        """Put a question to the engine, or say what is wrong with it."""
        known: Record = {"line": number, "id": None, "digest": digest(line)}
        try:
            question = read_question(line, self._options)
            known["id"] = question.id
            options = question.options
            thinking = options.think is not None and self._writer.supports_thinking
            rendering = self._writer.write(question.messages, thinking=thinking)
            asked = request(rendering, options, is_gemma4=self._is_gemma4)
        except GemmaLocalError as error:
            if isinstance(error, BadQuestion):
                known["id"] = error.id
            pending = _Pending(known)
            pending.answer.set_result({"error": str(error)})
            return pending
        return _Pending(known, pool.submit(self._answer, asked, rendering.opening))

    def _answer(self, asked: Generate, opening: Opening) -> Record | None:
        """Other keys of the answer; None if it was stopped. Raises EngineDied."""
        try:
            done, report = self._answering.answer(asked, opening)
        except EngineDied:
            raise
        except EngineFailed as error:
            return {"error": str(error)}
        return None if done.reason == "cancelled" else report

    @property
    def _is_full(self) -> bool:
        unanswered = sum(not pending.answer.done() for pending in self._pending)
        most = self._sequences
        return unanswered >= 2 * most or len(self._pending) >= _AHEAD * most

    def _write_ready(self) -> None:
        """Wait a little for answers, and write those whose turn it is."""
        open_ones = [pending.answer for pending in self._pending if not pending.answer.done()]
        if open_ones and not self._pending[0].answer.done():
            wait(open_ones, timeout=_SHOW_SECONDS, return_when=FIRST_COMPLETED)
        while self._pending and self._pending[0].answer.done():
            pending = self._pending[0]
            answer = pending.answer.result()
            if answer is None:
                # Only a stop leaves a question without an answer.
                return
            self._answers.write({**pending.known, **answer})
            self._pending.popleft()
            self.done += 1
            if "error" in answer:
                self.failed += 1
                if self._options.stop_on_error:
                    self._stop.ask()
                    return
        self._show()

    def _show(self) -> None:
        of_all = f" of {self._total}" if self._total is not None else ""
        parts = [f"{self.done}{of_all}", f"{self.speed:.1f} tokens/s"]
        here = self.done - self._answers.earlier
        if self._total is not None and here:
            left = self.seconds / here * max(self._total - self.done, 0)
            parts.append(f"{rough_time_left(left)} left")
        if self.failed:
            parts.append(f"{self.failed} with errors")
        progress.show(" · ".join(parts))

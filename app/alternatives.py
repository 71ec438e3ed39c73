"""Several answers to one prompt, made at once: ``gemma-local -p ... --n N``.

The prompt is read once. With ``--seed`` the answers have that seed and the ones after it; they are
part of no conversation, since nobody can tell which one it would go on with.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Final

from gemma_local.app.answering import Answering
from gemma_local.app.conversation import Conversation
from gemma_local.app.exit_codes import ExitCode
from gemma_local.app.expected_work import expected_work
from gemma_local.app.interrupts import first_interrupt_calls
from gemma_local.app.launch import Launch, prepare
from gemma_local.app.one_shot import end_of, print_stats, prompt_text
from gemma_local.app.options import AnswerOptions
from gemma_local.app.output import StreamOutput, output_for
from gemma_local.app.prompts import PromptWriter, prompt_writer
from gemma_local.app.record import Unsaved
from gemma_local.app.report import exactness_label
from gemma_local.app.requests import request
from gemma_local.app.stop import Stop
from gemma_local.app.terminal import note, printable, progress
from gemma_local.engine.client import new_id
from gemma_local.engine.messages import Delta, Done, Event, Generate, Prefill, Ready
from gemma_local.models.chat_format import Rendering
from gemma_local.models.reply import Part

_MASK: Final = (1 << 63) - 1

Answered = tuple[Done, dict[str, object]]


def run(options: AnswerOptions) -> ExitCode:
    """Answer the prompt of ``options`` and standard input ``options.n`` times. Raises
    GemmaLocalError."""
    if options.temperature == 0:
        note("at temperature 0 all answers are the same: leave --temperature out, or --n")
    text, files = prompt_text(options)
    size = len(text.encode("utf-8", "replace")) + len((options.system or "").encode())
    launch = prepare(
        options,
        longest_draft=options.draft,
        sequences=options.n,
        work=expected_work(
            longest=size, usual=size, most_tokens=options.max_tokens, requests=options.n
        ),
    )
    writer = prompt_writer(launch.target, raw=options.raw)
    rendering = _rendering(writer, options, text, files)
    output = output_for(options.output)
    with launch.running(output.event) as (engine, ready):
        output.ready(ready, engine.pid)
        stop = Stop()
        several = _Several(options, Answering(engine, launch, stop), stop, ready)
        return several.run(_requests(rendering, options, launch), rendering)


def _rendering(
    writer: PromptWriter, options: AnswerOptions, text: str, files: list[tuple[int, int]]
) -> Rendering:
    thinking = options.think is not None
    conversation = Conversation(writer, Unsaved(), system=options.system or "", thinking=thinking)
    conversation.ask(text, files=files)
    return conversation.rendering()


def _requests(rendering: Rendering, options: AnswerOptions, launch: Launch) -> list[Generate]:
    """One for each answer, with seeds that follow on one another."""
    first = request(rendering, options, is_gemma4=launch.target.is_gemma4)
    assert first.sampling.seed is not None
    return [
        replace(
            first,
            id=new_id(),
            sampling=replace(first.sampling, seed=(first.sampling.seed + number) & _MASK),
        )
        for number in range(options.n)
    ]


class _Several:
    """The answers, and how they are shown."""

    def __init__(
        self, options: AnswerOptions, answering: Answering, stop: Stop, ready: Ready
    ) -> None:
        self._options = options
        self._answering = answering
        self._stop = stop
        self._ready = ready

    def run(self, requests: Sequence[Generate], rendering: Rendering) -> ExitCode:
        """Ask for all of them and show each in its turn."""
        with first_interrupt_calls(self._stop.ask), ThreadPoolExecutor(len(requests)) as pool:
            try:
                futures = [
                    pool.submit(self._answer, one, rendering, number)
                    for number, one in enumerate(requests, start=1)
                ]
                codes = {self._show(number, f) for number, f in enumerate(futures, start=1)}
            finally:
                # Where one failed the others are of no use.
                self._stop.ask()
        if self._options.output == "json":
            reports = [future.result()[1] for future in futures]
            sys.stdout.write(json.dumps(reports, ensure_ascii=False) + "\n")
        progress.clear()
        return max(codes)

    def _answer(self, one: Generate, rendering: Rendering, number: int) -> Answered:
        if self._options.output != "stream-json":
            done, report = self._answering.answer(one, rendering.opening, _Progress())
            return done, {"alternative": number, **report}
        events = _Events(alternative=number)
        done, report = self._answering.answer(one, rendering.opening, events)
        events.done(report)
        return done, report

    def _show(self, number: int, future: Future[Answered]) -> ExitCode:
        done, report = future.result()
        progress.clear()
        if self._options.output == "text":
            rule = f"--- {number} of {self._options.n} ---"
            text = printable(str(report["text"]), sys.stdout)
            end = "" if text.endswith("\n") else "\n"
            sys.stdout.write(f"{rule}\n{text}{end}")
            sys.stdout.flush()
        if self._options.stats:
            exact, lenience = bool(report["exact"]), self._options.lenience
            print_stats(done, exactness_label(exact=exact, lenience=lenience), self._ready.name)
        return end_of(done, self._ready.context)


class _Progress:
    """Says how much of the prompt is read; answers are shown when they are complete."""

    def event(self, event: Event) -> None:
        if isinstance(event, Prefill) and event.done < event.total:
            progress.show(f"reading the prompt: {event.done} of {event.total} tokens")

    def parts(self, parts: Sequence[Part], drafted: Sequence[bool], delta: Delta | None) -> None:
        pass

    def died(self, why: str) -> None:
        pass

    def notice(self, sentence: str) -> None:
        note(sentence)


class _Events(StreamOutput):
    """The events of one answer, marked with its number."""

    def died(self, why: str) -> None:
        # The person hears of it once, for all of them.
        self.write({"type": "restart", "reason": why})

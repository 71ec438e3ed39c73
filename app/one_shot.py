"""One prompt, one answer: ``gemma-local -p``, and pipes."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import Final

from gemma_local.app import folders
from gemma_local.app.assistant import Answered, Assistant
from gemma_local.app.conversation import Conversation
from gemma_local.app.drafting_report import drafting_lines
from gemma_local.app.errors import UsageError
from gemma_local.app.exactness_record import ExactnessRecord, deserves_label
from gemma_local.app.exit_codes import ExitCode
from gemma_local.app.launch import Launch, prepare
from gemma_local.app.options import AnswerOptions
from gemma_local.app.output import Output, output_for
from gemma_local.app.prompts import PromptWriter, prompt_writer
from gemma_local.app.report import answer_report, exactness_label, measurements, speed_line
from gemma_local.app.requests import request
from gemma_local.app.saving import Kept, Saving
from gemma_local.app.speed_record import remember_answer
from gemma_local.app.terminal import note
from gemma_local.engine.client import Engine, EngineFailed
from gemma_local.engine.messages import Done, Ready

WORTH_SAVING: Final = 1024
"""Tokens that a single answer's conversation must have for its state to be written to disk."""


def run(options: AnswerOptions) -> ExitCode:
    """Answer the prompt of ``options`` and standard input. Raises GemmaLocalError."""
    # The model first: reading standard input may wait for ever.
    launch = prepare(options, longest_draft=options.draft)
    writer = prompt_writer(launch.target, raw=options.raw)
    output = output_for(options.output)
    with closing(Saving(options, note)) as saving:
        text, files = prompt_text(options)
        if saving.keeps:
            launch = launch.with_states()
        with launch.running(output.event) as (engine, ready):
            output.ready(ready, engine.pid)
            with closing(saving.open(ready, system=options.system or "")) as kept:
                shot = _Shot(options, launch, output, engine, ready, kept)
                return shot.run(writer, text, files)


class _Shot:
    """The one answer."""

    def __init__(
        self,
        options: AnswerOptions,
        launch: Launch,
        output: Output,
        engine: Engine,
        ready: Ready,
        kept: Kept,
    ) -> None:
        self._options = options
        self._launch = launch
        self._output = output
        self._engine = engine
        self._ready = ready
        self._kept = kept

    def run(self, writer: PromptWriter, text: str, files: list[tuple[int, int]]) -> ExitCode:
        """Ask, show the answer, and say how it ended."""
        options, kept = self._options, self._kept
        conversation = Conversation(
            writer,
            kept.record,
            kept.entries,
            system=kept.system,
            thinking=options.think is not None,
        )
        is_gemma4 = self._launch.target.is_gemma4
        assistant = Assistant(
            self._engine,
            conversation,
            self._output,
            lambda rendering: request(rendering, options, is_gemma4=is_gemma4, session=kept.label),
            is_gemma4=is_gemma4 and not options.raw,
            saves=bool(kept.label),
        )
        conversation.ask(text, files=files)
        try:
            answered = assistant.answer(lambda done, _message: measurements(done.tally))
        except EngineFailed:
            self._output.broken_off()
            raise
        self._report(answered)
        remember_answer(self._launch, self._ready, answered.done, self._engine.pid)
        tally = answered.done.tally
        if tally.prompt_tokens + tally.emitted_tokens >= WORTH_SAVING:
            assistant.leave()
        return end_of(answered.done, self._ready.context)

    def _report(self, answered: Answered) -> None:
        done, asked = answered.done, answered.request
        record = ExactnessRecord(folders.exactness_path())
        exact = deserves_label(record, self._ready, self._launch.load, asked.sampling, done)
        report = answer_report(
            answered.message,
            done,
            self._ready,
            asked.sampling,
            exact=exact,
            session=self._kept.label,
        )
        self._output.done(report)
        if self._options.stats:
            label = exactness_label(exact=exact, lenience=self._options.lenience)
            print_stats(done, label, self._ready.name)


def end_of(done: Done, context: int) -> ExitCode:
    """Say why an answer ended, if that is worth a word; returns the status it stands for."""
    match done.reason:
        case "loop":
            note("the answer stops here: the model repeats itself and would not end")
            return ExitCode.ABNORMAL_END
        case "nan":
            note("the answer stops here: what the model computes is no longer a number")
            return ExitCode.ABNORMAL_END
        case "context":
            note(f"the answer stops here: the context of {context} tokens is full; give more --ctx")
        case "cancelled":
            return ExitCode.INTERRUPTED
    return ExitCode.OK


def prompt_text(options: AnswerOptions) -> tuple[str, list[tuple[int, int]]]:
    """The prompt, then what came on standard input, with an empty line between them; and which part
    of it, from one index to another, is the latter. Raises UsageError if there is neither."""
    given, piped = options.prompt or "", _standard_input()
    text = "\n\n".join(part for part in (given, piped) if part.strip())
    if not text:
        raise UsageError("there is nothing to answer: give a prompt with -p or on standard input")
    is_file = bool(piped.strip()) and bool(given.strip())
    return text, [(len(text) - len(piped), len(text))] if is_file else []


def _standard_input() -> str:
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    raw = sys.stdin.buffer.read()
    return raw.decode("utf-8", "replace").rstrip("\r\n")


def print_stats(done: Done, label: str, model: str) -> None:
    """Speed and acceptance, on standard error; ``model`` is what the target calls itself."""
    lines = [speed_line(done.tally, label), *drafting_lines(done.tally, model)]
    print("\n".join(lines), file=sys.stderr, flush=True)

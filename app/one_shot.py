"""One prompt, one answer: ``gemma-local -p``, and pipes."""

from __future__ import annotations

import sys

from gemma_local.app import folders
from gemma_local.app.answer import Answer
from gemma_local.app.conversation import Conversation
from gemma_local.app.errors import UsageError
from gemma_local.app.exactness_record import ExactnessRecord, deserves_label
from gemma_local.app.exit_codes import ExitCode
from gemma_local.app.launch import prepare
from gemma_local.app.options import AnswerOptions
from gemma_local.app.output import output_for
from gemma_local.app.prompts import prompt_writer
from gemma_local.app.report import answer_report, exactness_label, positions_line, speed_line
from gemma_local.app.requests import request
from gemma_local.app.terminal import note
from gemma_local.engine.client import EngineFailed
from gemma_local.engine.messages import Done


def run(options: AnswerOptions) -> ExitCode:
    """Answer the prompt of ``options`` and standard input. Raises GemmaLocalError."""
    # The model first: reading standard input may wait for ever.
    launch = prepare(options, longest_draft=options.draft)
    text = _prompt_text(options)
    conversation = Conversation(prompt_writer(launch.target, raw=options.raw), options.system)
    asked = request(conversation.ask(text), options, is_gemma4=launch.target.is_gemma4)
    output = output_for(options.output)
    with launch.running(output.event) as (engine, ready):
        output.ready(ready, engine.pid)
        answer = Answer(engine, asked, output.event, output.restart)
        try:
            done = answer.run()
        except EngineFailed:
            output.broken_off()
            raise
        record = ExactnessRecord(folders.exactness_path())
        exact = deserves_label(record, ready, launch.load, asked.sampling, done)
        output.done(answer_report(answer.text, done, ready, asked.sampling, exact=exact))
    if options.stats:
        _print_stats(done, exactness_label(exact=exact, lenience=options.lenience))
    return end_of(done, ready.context)


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


def _prompt_text(options: AnswerOptions) -> str:
    """The prompt, then what came on standard input, with an empty line between them."""
    parts = [options.prompt or "", _standard_input()]
    text = "\n\n".join(part for part in parts if part.strip())
    if not text:
        raise UsageError("there is nothing to answer: give a prompt with -p or on standard input")
    return text


def _standard_input() -> str:
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    raw = sys.stdin.buffer.read()
    return raw.decode("utf-8", "replace").rstrip("\r\n")


def _print_stats(done: Done, label: str) -> None:
    lines = [speed_line(done.tally, label), positions_line(done.tally)]
    print("\n".join(line for line in lines if line), file=sys.stderr, flush=True)

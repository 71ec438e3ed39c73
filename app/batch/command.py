"""``gemma-local batch``: reads the questions, loads the pair for several at once, reports."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Final

from gemma_local.app.answering import Answering
from gemma_local.app.batch.answer_file import AnswerFile
from gemma_local.app.batch.batch import Batch
from gemma_local.app.batch.question import digest
from gemma_local.app.batch.question_file import QuestionFile, Survey
from gemma_local.app.durations import rough_duration
from gemma_local.app.errors import UsageError
from gemma_local.app.exit_codes import ExitCode
from gemma_local.app.expected_work import expected_work
from gemma_local.app.launch import Launch, prepare
from gemma_local.app.options import BatchOptions
from gemma_local.app.prompts import prompt_writer
from gemma_local.app.stop import Stop
from gemma_local.app.terminal import note
from gemma_local.engine.plan.parallel import Work

_PIPE: Final = Work(prompt=200, answer=400, context=8192)
"""What may come from a pipe, which nobody can look into before."""


def run(options: BatchOptions) -> ExitCode:
    """Answer what is not answered yet. Raises GemmaLocalError."""
    questions = QuestionFile(options)
    survey = questions.survey()
    answers = AnswerFile(options.out)
    try:
        lines = _unanswered(questions, answers)
        first = next(lines, None)
        if first is None:
            note(f"all {answers.earlier} lines are answered" if answers.earlier else "no lines")
            return ExitCode.LINES_FAILED if answers.earlier_errors else ExitCode.OK
        launch = prepare(
            options,
            longest_draft=options.draft,
            sequences=options.parallel or None,
            work=_work(survey),
        )
        total = survey.lines if survey is not None else None
        return _answer(options, launch, chain([first], lines), answers, total)
    finally:
        answers.close()


def _answer(
    options: BatchOptions,
    launch: Launch,
    lines: Iterator[tuple[int, bytes]],
    answers: AnswerFile,
    total: int | None,
) -> ExitCode:
    writer = prompt_writer(launch.target)
    stop = Stop()
    with launch.running() as (engine, ready):
        together = f"{ready.sequences} at once" if ready.sequences > 1 else "one after the other"
        why = f", {launch.why_so_many}" if launch.why_so_many else ""
        note(f"answering {together}{why}")
        batch = Batch(
            options,
            Answering(engine, launch, stop),
            writer,
            answers,
            sequences=ready.sequences,
            total=total,
            stop=stop,
            is_gemma4=launch.target.is_gemma4,
        )
        batch.run(lines)
    failed = f", {batch.failed} with errors" if batch.failed else ""
    here = batch.done - answers.earlier
    note(f"{here} answered in {rough_duration(batch.seconds)}, {batch.speed:.1f} tokens/s{failed}")
    return ExitCode.LINES_FAILED if batch.failed else ExitCode.OK


def _unanswered(questions: QuestionFile, answers: AnswerFile) -> Iterator[tuple[int, bytes]]:
    """The lines that an earlier run did not come to. Raises UsageError if those before them are
    not the ones that it answered."""
    earlier = answers.digests()
    for number, line in questions.lines():
        known = next(earlier, None)
        if known is None:
            yield number, line
        elif known != digest(line):
            raise UsageError(
                f"line {number} of {questions.name} is not the one that was answered in "
                f"{answers.name}; name another file with -o"
            )
    if next(earlier, None) is not None:
        raise UsageError(
            f"{answers.name} has answers to more lines than {questions.name} has; name another "
            "file with -o"
        )


def _work(survey: Survey | None) -> Work:
    """What to plan for."""
    if survey is None:
        return _PIPE
    return expected_work(
        longest=survey.longest,
        usual=survey.mean,
        most_tokens=survey.most_tokens,
        requests=survey.lines,
    )

"""The best of several attempts without anybody to ask: ``gemma-local -p TASK --best N``."""

from __future__ import annotations

import sys
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gemma_local.app.abreast import widen
from gemma_local.app.best.contest import Contest, Result
from gemma_local.app.best.errors import Ended, NotTaken
from gemma_local.app.best.ground import Ground
from gemma_local.app.best.judge import Judge
from gemma_local.app.best.standing import Standing
from gemma_local.app.best.taking import take
from gemma_local.app.best.usual_judge import usual_judge
from gemma_local.app.best.wish import Wish
from gemma_local.app.best.words import as_json, failures, headline, overview, speed_line
from gemma_local.app.dialogue import Dialogue
from gemma_local.app.errand import terms_of
from gemma_local.app.errors import UsageError
from gemma_local.app.exit_codes import ExitCode
from gemma_local.app.one_shot import prompt_text
from gemma_local.app.options import AnswerOptions
from gemma_local.app.output import output_for, write_json
from gemma_local.app.saving import Saving
from gemma_local.app.settings_file import load_settings
from gemma_local.app.stop import Stop
from gemma_local.app.terminal import note, printable, progress


def run(options: AnswerOptions) -> ExitCode:
    """Have the task of ``options`` and standard input done ``options.best`` times, and take the
    best if that is allowed. Raises GemmaLocalError."""
    command = options.judge or usual_judge(Path.cwd())
    if not command:
        raise UsageError(
            "it is not clear how this project is tested; say which command decides, such as"
            ' --judge "pytest -q"'
        )
    terms = terms_of(options, load_settings().agent)
    output = output_for(options.output)
    dialogue = Dialogue(options, output, terms=terms, on_tools=output)
    # The model first: reading standard input may wait for ever.
    dialogue.prepare()
    if sentence := widen(dialogue, options.best):
        output.notice(sentence)
    with closing(Saving(options, note)) as saving:
        text, _ = prompt_text(options)
        try:
            ready = dialogue.open(saving, output.event)
            output.ready(ready, dialogue.engine.pid)
            contest = Contest(
                Ground.of(dialogue),
                Wish(options.best, text, command),
                Judge(command, has_network=terms.network),
                _Watcher(options).hear,
                output.notice,
            )
            result = contest.run(Stop())
            progress.clear()
            return _ended(dialogue, options, result)
        except Ended:
            progress.clear()
            note("stopped; nothing was changed")
            return ExitCode.INTERRUPTED
        except KeyboardInterrupt:
            dialogue.close(at_once=True)
            raise
        finally:
            dialogue.close()


class _Watcher:
    """Shows how the attempts stand."""

    def __init__(self, options: AnswerOptions) -> None:
        self._is_stream = options.output == "stream-json"
        self._standings: dict[int, Standing] = {}

    def hear(self, standing: Standing) -> None:
        """Called by one attempt at a time."""
        if self._is_stream:
            write_json({"type": "attempt", **asdict(standing)})
            return
        self._standings[standing.number] = standing
        stand = [self._standings[number] for number in sorted(self._standings)]
        speed = sum(each.speed for each in stand)
        each = (f"{one.number} {one.state} {one.tokens:,}" for one in stand)
        progress.show(f"{' | '.join(each)} | {speed:.1f} tokens/s")


def _ended(dialogue: Dialogue, options: AnswerOptions, result: Result) -> ExitCode:
    """Take the best if that is allowed, and say what came of it all."""
    best, taken, problem = result.best, None, ""
    is_good = best is not None and best.passes
    if best is not None and is_good and (options.take or options.mode in ("edits", "auto")):
        try:
            take(dialogue, result, best)
            taken = best.number
        except NotTaken as error:
            problem = str(error)
    _report(dialogue, options, result, taken, problem)
    if taken is not None:
        dialogue.leave()
        return ExitCode.OK
    if problem:
        note(problem)
        return ExitCode.FAILED
    if result.places[0].outcome.passes and best is None:
        return ExitCode.OK
    if not is_good:
        return ExitCode.NONE_PASSES
    note("nothing was changed: give --take, or --mode edits, to have the best one taken")
    return ExitCode.NEEDED_CONSENT


def _report(
    dialogue: Dialogue, options: AnswerOptions, result: Result, taken: int | None, problem: str
) -> None:
    if options.output != "text":
        kind = {"type": "done"} if options.output == "stream-json" else {}
        facts: dict[str, Any] = as_json(result, taken)
        pair = {"model": dialogue.ready.target, "drafter": dialogue.ready.drafter}
        session = {"session": dialogue.kept.label or None}
        write_json({**kind, **facts, "problem": problem, **session, **pair})
        return
    best = result.best
    told = [overview(result), failures(result)]
    told += [best.report if best is not None else "", f"{headline(result)}; {speed_line(result)}"]
    told += [f"number {taken} was taken"] if taken is not None else []
    for part in filter(None, told):
        print(printable(part, sys.stderr), file=sys.stderr, flush=True)
    if best is not None:
        # Nothing else, so that a program can take it.
        sys.stdout.write(printable(best.changes.unified(), sys.stdout))
        sys.stdout.flush()

"""The command ``gemma-local``: finds out what is asked for, and hands over.

Everything that costs time is imported where it is needed: ``--help`` loads none of it, and neither
-p nor pipes ever load what draws screens.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Sequence

from gemma_local.app import arguments
from gemma_local.app.errors import UsageError
from gemma_local.app.exit_codes import ExitCode, exit_code_of
from gemma_local.app.settings_options import with_settings
from gemma_local.app.terminal import note, prepare_streams
from gemma_local.app.unexpected import log_unexpected
from gemma_local.models.errors import GemmaLocalError


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``gemma-local`` with these arguments, those of the process by default."""
    words = list(sys.argv[1:] if argv is None else argv)
    prepare_streams()
    try:
        try:
            code = _run(words)
        except SystemExit as end:
            # --help and --version.
            code = int(end.code or 0)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader has seen enough (`| head -1`).
        _close_output()
        return ExitCode.OK
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except GemmaLocalError as error:
        return _complain(str(error), exit_code_of(error), words)
    except Exception as error:  # noqa: BLE001 - whatever it is, the person gets a sentence
        return _complain(log_unexpected(error), ExitCode.FAILED, words)


def _run(words: list[str]) -> int:
    match words:
        case ["batch", *rest]:
            from gemma_local.app.batch.arguments import parse_batch

            work = parse_batch(rest, with_settings)
            from gemma_local.app.batch import command as batch_command

            return batch_command.run(work)
        case ["bench", *rest]:
            options = arguments.parse_bench(rest, with_settings)
            from gemma_local.app import bench

            return bench.run(options)
        case ["verify", *rest]:
            choices = arguments.parse_verify(rest, with_settings)
            from gemma_local.app import verify

            return verify.run(choices)
        case ["sessions", *rest]:
            from gemma_local.app.sessions.arguments import parse_sessions

            asked = parse_sessions(rest)
            from gemma_local.app.sessions import command

            return command.run(asked)
        case ["models", *rest]:
            from gemma_local.app.models_command.arguments import parse_models

            wishes = parse_models(rest)
            from gemma_local.app.models_command import command as models_command

            return models_command.run(wishes)
        case ["doctor", *rest]:
            from gemma_local.app.doctor.arguments import parse_doctor

            wanted = parse_doctor(rest)
            from gemma_local.app.doctor.command import run as examine

            return examine(wanted)
        case ["config", *rest]:
            from gemma_local.app.config_command.arguments import parse_config

            subject = parse_config(rest)
            from gemma_local.app.config_command import command as config_command

            return config_command.run(subject)
        case ["paths", *rest]:
            from gemma_local.app import paths_command

            return paths_command.run(paths_command.parse_paths(rest))
        case ["completions", *rest]:
            from gemma_local.app import completions

            return completions.run(completions.parse_completions(rest))
        case _:
            return _answer_or_chat(words)


def _answer_or_chat(words: list[str]) -> int:
    options = arguments.parse_answer(words, with_settings)
    has_input = sys.stdin is not None and not sys.stdin.isatty()
    if options.prompt is not None or has_input:
        _begin_the_engine()
        if options.best:
            from gemma_local.app.best import errand as contest

            return contest.run(options)
        if options.allow or options.mode:
            from gemma_local.app import errand

            return errand.run(options)
        if options.n > 1:
            from gemma_local.app import alternatives

            return alternatives.run(options)
        from gemma_local.app import one_shot

        return one_shot.run(options)
    if options.best:
        raise UsageError("--best needs a task: give one with -p; in the app there is /best")
    if options.n > 1:
        raise UsageError("--n needs a prompt: give one with -p or on standard input")
    if options.output != "text" or options.raw:
        what = "--raw" if options.raw else f"--output {options.output}"
        raise UsageError(f"{what} needs a prompt: give one with -p or on standard input")
    if options.plain or not _has_screen():
        _begin_the_engine()
        from gemma_local.app import chat

        return chat.run(options)
    from gemma_local.app.tui.start import run as open_screens

    return open_screens(options)


def _begin_the_engine() -> None:
    """It starts while the modules that answer are imported."""
    from gemma_local.app import early_engine

    early_engine.begin()


def _has_screen() -> bool:
    """Whether screens can be drawn: both ends are a terminal that can move its cursor."""
    is_terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
    # Windows' console needs no TERM.
    unfit = ("dumb", "unknown") if os.name == "nt" else ("", "dumb", "unknown")
    return is_terminal and os.environ.get("TERM", "") not in unfit


def _complain(sentence: str, code: ExitCode, words: list[str]) -> ExitCode:
    """Report an error the way the person, or the program that started us, asked for."""
    note(sentence)
    form = _output_form(words)
    if form != "text":
        from gemma_local.app.output import write_json

        kind = {"type": "error"} if form == "stream-json" else {}
        try:
            write_json({**kind, "error": sentence, "exit_code": int(code)})
        except BrokenPipeError:
            _close_output()
    return code


def _output_form(words: list[str]) -> str:
    """What form of output was asked for; looked up by hand, as the error may be in the options."""
    if words and words[0] in arguments.COMMANDS:
        return "json" if "--json" in words else "text"
    for word, value in itertools.pairwise([*words, ""]):
        form = value if word == "--output" else word.removeprefix("--output=")
        if form in ("json", "stream-json"):
            return form
    return "text"


def _close_output() -> None:
    """Let what is still buffered go nowhere, so that the end of the process does not complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())

"""What the exit status of ``gemma-local`` says. Scripts rely on these numbers: they stay."""

from __future__ import annotations

from enum import IntEnum

from gemma_local.app.errors import BadSettings, NoModel, UsageError
from gemma_local.models.errors import BadModelFile, BadPair


class ExitCode(IntEnum):
    """Every status that ``gemma-local`` ends with."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NO_MODEL = 3
    ENGINE_DIED = 4
    DIFFERENT = 5
    ABNORMAL_END = 6
    NEEDED_CONSENT = 7
    IN_CIRCLES = 8
    TOO_MANY_CALLS = 9
    NONE_PASSES = 10
    LINES_FAILED = 11
    INTERRUPTED = 130

    @property
    def meaning(self) -> str:
        """A few words for the help text."""
        return _MEANINGS[self]


_MEANINGS = {
    ExitCode.OK: "all went well",
    ExitCode.FAILED: "the engine could not do what was asked",
    ExitCode.USAGE: "an option, a setting or the prompt is not usable",
    ExitCode.NO_MODEL: "no model was given, or the model or drafter is not usable",
    ExitCode.ENGINE_DIED: "the engine's process ended and could not be restarted",
    ExitCode.DIFFERENT: "verify: drafting changed something in exact mode",
    ExitCode.ABNORMAL_END: "the answer ended in a loop or in numbers that are none",
    ExitCode.NEEDED_CONSENT: "something was not done because nobody could be asked; see --allow",
    ExitCode.IN_CIRCLES: "the model made the same calls again and again, and nothing came of it",
    ExitCode.TOO_MANY_CALLS: "the model made as many calls as it may; see --max-calls",
    ExitCode.NONE_PASSES: "--best: no attempt passes what it is judged by",
    ExitCode.LINES_FAILED: "batch: some lines could not be answered",
    ExitCode.INTERRUPTED: "Ctrl-C",
}


def exit_code_of(error: BaseException) -> ExitCode:
    """The status to end with after an error."""
    # Here: it is only needed once something went wrong, and the help text must start fast.
    from gemma_local.engine.client import EngineDied
    from gemma_local.engine.plan.errors import WishRefused

    match error:
        case UsageError() | BadSettings() | WishRefused():
            return ExitCode.USAGE
        case NoModel() | BadModelFile() | BadPair():
            return ExitCode.NO_MODEL
        case EngineDied():
            return ExitCode.ENGINE_DIED
        case KeyboardInterrupt():
            return ExitCode.INTERRUPTED
        case _:
            return ExitCode.FAILED

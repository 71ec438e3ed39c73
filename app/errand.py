"""One task, done with tools and without anybody to ask: ``gemma-local -p TASK --allow RULES``."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Final, Literal, cast

from gemma_local.app.agent.consent import Mode
from gemma_local.app.agent.rules import BadRule, Rules, parse_allowed
from gemma_local.app.agent.terms import MOST_CALLS, Terms
from gemma_local.app.agent.turn import End, Turned
from gemma_local.app.dialogue import Dialogue
from gemma_local.app.errors import UsageError
from gemma_local.app.exit_codes import ExitCode
from gemma_local.app.one_shot import end_of, print_stats, prompt_text
from gemma_local.app.options import AnswerOptions
from gemma_local.app.output import output_for
from gemma_local.app.report import answer_report
from gemma_local.app.saving import Saving
from gemma_local.app.settings import AgentSettings
from gemma_local.app.settings_file import load_settings
from gemma_local.app.stop import Stop
from gemma_local.app.terminal import note
from gemma_local.models.errors import GemmaLocalError

_CODES: Final[Mapping[End, ExitCode]] = {
    "stopped": ExitCode.INTERRUPTED,
    "loop": ExitCode.IN_CIRCLES,
    "limit": ExitCode.TOO_MANY_CALLS,
    "nan": ExitCode.ABNORMAL_END,
}


def run(options: AnswerOptions) -> ExitCode:
    """Do the task of ``options`` and standard input. Raises GemmaLocalError."""
    terms = terms_of(options, load_settings().agent)
    output = output_for(options.output)
    dialogue = Dialogue(options, output, terms=terms, on_tools=output)
    # The model first: reading standard input may wait for ever.
    dialogue.prepare()
    with closing(Saving(options, note)) as saving:
        text, files = prompt_text(options)
        try:
            ready = dialogue.open(saving, output.event)
            if dialogue.agent is None:
                raise UsageError(f"{dialogue.toolless}; leave --allow and --mode out")
            output.ready(ready, dialogue.engine.pid)
            dialogue.say(text, files=files)
            try:
                turned = dialogue.turn(Stop())
            except GemmaLocalError:
                output.broken_off()
                raise
            output.done(_report(dialogue, turned))
            if options.stats:
                print_stats(turned.answered.done, dialogue.last_label, ready.name)
            dialogue.leave()
            return code_of(turned, ready.context)
        except KeyboardInterrupt:
            dialogue.close(at_once=True)
            raise
        finally:
            dialogue.close()


def terms_of(
    options: AnswerOptions, settings: AgentSettings, *, tools: Literal["auto", "on", "off"] = "on"
) -> Terms:
    """What the person has allowed: on the command line, and by the rules of their settings. The
    mode of the settings is for when they are there. Raises UsageError."""
    try:
        allowed = [rule for text in options.allow for rule in parse_allowed(text)]
        rules = Rules([*settings.rules, *allowed])
    except BadRule as error:
        raise UsageError(str(error)) from error
    return Terms(
        cast("Mode", options.mode or "ask"),
        rules,
        tools=tools,
        most_calls=options.max_calls or MOST_CALLS,
        network=settings.network,
    )


def code_of(turned: Turned, context: int) -> ExitCode:
    """Say why a turn ended, if that is worth a word; returns the status it stands for."""
    match turned.end:
        case "loop" if turned.answered.done.reason != "loop":
            note("it stops here: the model makes the same calls again, and nothing new comes of it")
        case "limit":
            note(f"it stops here, after {len(turned.calls)} calls; give more with --max-calls")
        case _:
            code = end_of(turned.answered.done, context)
            if code is not ExitCode.OK:
                return code
    if turned.end in _CODES:
        return _CODES[turned.end]
    if turned.lacked_consent:
        note("some of it needed consent and was not done; allow it with --allow")
        return ExitCode.NEEDED_CONSENT
    return ExitCode.OK


def _report(dialogue: Dialogue, turned: Turned) -> dict[str, object]:
    """All keys of ``--output json``: those of ``app.report``, which speak of the last answer, and

    ``turn``            how it ended: "answered", "stopped", "loop" (the same calls over and over),
                        "limit" (--max-calls), "cut" (--max-tokens, or a full context) or "nan"
    ``lacked_consent``  whether something was not done because nobody could be asked
    ``calls``           each with id, tool, arguments, outcome ("ok", "failed", "refused" or
                        "stopped"), summary and seconds
    """
    answered = turned.answered
    report = answer_report(
        answered.message,
        answered.done,
        dialogue.ready,
        answered.request.sampling,
        exact=dialogue.last_label == "exact",
        session=dialogue.kept.label,
    )
    return {
        **report,
        "turn": turned.end,
        "lacked_consent": turned.lacked_consent,
        "calls": [call.report() for call in turned.calls],
    }

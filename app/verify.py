"""``gemma-local verify``: does drafting change anything, with this pair on this machine?

Every prompt is decoded plain and with drafting, in the default and in the exact mode, and the
logits of each token are compared bit by bit. What passes is recorded; only that is called exact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gemma_local.app import folders
from gemma_local.app.bench_prompts import PROMPTS, long_prompt
from gemma_local.app.errors import UsageError
from gemma_local.app.exactness_record import Combination, ExactnessRecord
from gemma_local.app.exit_codes import ExitCode
from gemma_local.app.launch import Launch, prepare
from gemma_local.app.options import VerifyOptions
from gemma_local.app.output import write_json
from gemma_local.app.prompts import prompt_writer
from gemma_local.app.terminal import note, progress
from gemma_local.app.verify_report import Comparison, ModeReport, as_json, as_text
from gemma_local.engine.client import Engine, EngineDied, EngineFailed, new_id
from gemma_local.engine.messages import Ready, Verified, Verify
from gemma_local.models.errors import BadPair
from gemma_local.models.given_path import given_path
from gemma_local.models.message import Message
from gemma_local.models.prompt import Prompt

BUILT_IN: Final = {**PROMPTS, "long": long_prompt()}


def run(options: VerifyOptions) -> ExitCode:
    """Compare, record and report. Raises GemmaLocalError."""
    launch = prepare(options, longest_draft=max(options.draft))
    if launch.load.drafter is None:
        raise BadPair(
            f"there is nothing to verify: {launch.target.path.name} has no drafter; give one with "
            "--drafter FILE"
        )
    write = prompt_writer(launch.target, raw=options.raw).write
    texts = _own_prompts(options.prompts) if options.prompts else BUILT_IN
    prompts = {name: write([Message("user", text)]).prompt for name, text in texts.items()}
    with launch.running() as (engine, ready):
        reports = [
            _verify_mode(engine, ready, launch, exact, prompts, options) for exact in (False, True)
        ]
    if options.json:
        write_json({"model": launch.load.target, "drafter": launch.load.drafter,
                    "modes": [as_json(report) for report in reports]})  # fmt: skip
    else:
        print("\n\n".join(as_text(report) for report in reports))
    exact_report = reports[1]
    return ExitCode.DIFFERENT if exact_report.differs else ExitCode.OK


def _verify_mode(
    engine: Engine,
    ready: Ready,
    launch: Launch,
    exact: bool,
    prompts: dict[str, Prompt],
    options: VerifyOptions,
) -> ModeReport:
    report = ModeReport("exact" if exact else "default", ready.warnings if exact else ())
    longest = ready.exact_draft_max if exact else ready.draft_max
    for length in options.draft:
        if length > longest:
            continue
        results = tuple(_compare(engine, report, prompts, options.tokens, length, exact))
        if not results:
            name, reason = next(iter(report.skipped.items()))
            raise EngineFailed(f"no prompt could be compared; {name}: {reason}")
        report.comparisons.append(Comparison(length, results))
    if not report.comparisons:
        report.skipped["all prompts"] = f"drafts are at most {longest} long in this mode"
        return report
    combination = Combination.of(ready, launch.load, exact_mode=exact)
    try:
        findings = [comparison.finding for comparison in report.comparisons]
        ExactnessRecord(folders.exactness_path()).keep(combination, findings)
    except OSError as error:
        note(f"the result could not be recorded ({error}), so nothing will be labelled exact")
    return report


def _compare(
    engine: Engine,
    report: ModeReport,
    prompts: dict[str, Prompt],
    tokens: int,
    draft: int,
    exact: bool,
) -> Iterator[tuple[str, Verified]]:
    for name, prompt in prompts.items():
        if name in report.skipped:
            continue
        progress.show(f"{report.mode} mode, {draft} drafted tokens: {name}")
        try:
            yield name, engine.verify(Verify(new_id(), prompt, tokens, draft, exact))
        except EngineDied:
            raise
        except EngineFailed as error:
            # A prompt that is too long for the context must not cost the other prompts' results.
            report.skipped[name] = str(error)


def _own_prompts(name: str) -> dict[str, str]:
    """Prompts of a file, with an empty line between them, by number."""
    try:
        text = given_path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--prompts: {name} cannot be read as text ({error})") from error
    parts = [part.strip("\n") for part in re.split(r"\n[ \t]*\n", text) if part.strip()]
    if not parts:
        raise UsageError(f"--prompts: {name} holds no prompt; write one, or leave --prompts out")
    return {str(number): part for number, part in enumerate(parts, start=1)}

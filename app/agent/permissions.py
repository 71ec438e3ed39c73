"""Who decides about a call: the mode, a rule, or the person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from gemma_local.app.agent.consent import Mode
from gemma_local.app.agent.rules import RuleKind, Rules
from gemma_local.app.agent.run.judgement import Judgement, RunEffect
from gemma_local.app.agent.tool import Effect

_ONLY_LOOKING: Final = (
    "This is plan mode: only looking is allowed. Say what you would do, and wait for the person."
)


@dataclass(frozen=True, slots=True)
class Allowed:
    """It may be done."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The person decides. ``why`` says why it is asked although the mode might allow it, ``rule``
    is what "always" would keep; both may be empty."""

    why: str = ""
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Denied:
    """It may not be done; ``sentence`` tells the model."""

    sentence: str


Decision: TypeAlias = Allowed | Asked | Denied


def decide(effect: Effect, mode: Mode, rules: Rules, *, is_interactive: bool = True) -> Decision:
    """Whether a call may be carried out.

    ===== ==================== ============================= ==================================
    mode  looking              changing files                commands
    ===== ==================== ============================= ==================================
    plan  free                 no                            those that only look
    ask   free                 by rule, else asked           those that only look, by rule, else
                                                             asked
    edits free                 free                          the same
    auto  free                 free                          free in a sandbox; without one as
                                                             before
    ===== ==================== ============================= ==================================

    What has a reason of its own to be asked for (``effect.why``: it deletes, publishes, leaves the
    workspace) is asked for in every mode; a rule allows it only where the effect names one. A rule
    that forbids goes before all. Where nobody can be asked the answer is no.
    """
    decision = _decide(effect, mode, rules)
    if isinstance(decision, Asked) and not is_interactive:
        return Denied(_nobody(effect, decision))
    return decision


def _decide(effect: Effect, mode: Mode, rules: Rules) -> Decision:
    if forbidden := _forbidden(effect, rules):
        return Denied(f'The person has forbidden this by the rule "{forbidden}". Do without it.')
    judgement = effect.judgement if isinstance(effect, RunEffect) else None
    looks = effect.kind in ("read", "plan") or (judgement is not None and judgement.only_looks)
    shows = judgement is not None and judgement.only_shows
    if mode == "plan" and not looks and not shows:
        return Denied(_ONLY_LOOKING)
    if effect.why:
        is_ruled = bool(effect.rule) and _is_allowed(effect, mode, rules)
        return Allowed() if is_ruled else Asked(effect.why, effect.rule)
    if looks or _is_free(effect, mode, judgement) or _is_allowed(effect, mode, rules):
        return Allowed()
    return Asked("", effect.rule)


def _is_free(effect: Effect, mode: Mode, judgement: Judgement | None) -> bool:
    """Whether the mode allows it."""
    if effect.kind == "edit":
        return mode in ("edits", "auto")
    return mode == "auto" and judgement is not None and judgement.is_confined


def _is_allowed(effect: Effect, mode: Mode, rules: Rules) -> bool:
    """Whether rules allow it, all of it."""
    if effect.kind == "run":
        judgement = effect.judgement if isinstance(effect, RunEffect) else None
        if judgement is None or not judgement.acting or judgement.computes:
            return False
        if judgement.redirects and mode not in ("edits", "auto"):
            # It would change files by the way.
            return False
        return all(
            command.words and rules.command_is_allowed([word.text for word in command.words])
            for command in judgement.acting
        )
    kind: RuleKind = "edit" if effect.kind == "edit" else "read"
    return any(rules.path_is_allowed(kind, path) for path in _paths(effect))


def _forbidden(effect: Effect, rules: Rules) -> str:
    if isinstance(effect, RunEffect) and effect.judgement is not None:
        for command in effect.judgement.all_of_it:
            names = [word.text for word in command.words]
            if not names:
                continue
            # A program by way of its folder is the same program.
            for words in (names, [command.program, *names[1:]]):
                if rule := rules.command_is_forbidden(words):
                    return str(rule)
    if effect.kind == "edit":
        for path in _paths(effect):
            if rule := rules.path_is_forbidden("edit", path):
                return str(rule)
    return ""


def _paths(effect: Effect) -> list[str]:
    """What a rule about files is compared with: the file, or else the pattern that "always" would
    keep."""
    if effect.diff is not None:
        return [effect.diff.path]
    pattern = effect.rule.partition(":")[2].strip()
    return [pattern] if pattern else []


def _nobody(effect: Effect, asked: Asked) -> str:
    what = effect.command or effect.title
    what = what if len(what) <= 100 else f"{what[:97]}..."
    reason = f" ({asked.why})" if asked.why else ""
    return (
        f"Not done: {what}{reason} needs the person's consent, and nobody is there to give it."
        " Find another way, or say at the end what remains to be done."
    )

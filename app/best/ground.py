"""What all attempts begin with: the conversation as it is, who answers, and on which terms."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import Final

from gemma_local.app.agent.rules import Rules
from gemma_local.app.agent.terms import Terms
from gemma_local.app.agent.workbench import Workbench
from gemma_local.app.best.errors import NoAttempts
from gemma_local.app.conversation import Conversation
from gemma_local.app.dialogue import Dialogue
from gemma_local.app.options import AnswerOptions
from gemma_local.app.requests import GEMMA_SAMPLING, GUEST_SAMPLING, sampling
from gemma_local.engine.client import Engine
from gemma_local.models.target import TargetFacts

_JUDGED: Final = "[The work is good when this command passes: {command}]"


@dataclass(frozen=True, slots=True)
class Ground:
    """``options`` hold a temperature above 0 and a seed, ``bench`` is the person's own. ``remark``
    tells the person what is other than they have set it."""

    engine: Engine
    target: TargetFacts
    options: AnswerOptions
    conversation: Conversation
    bench: Workbench
    terms: Terms
    remark: str = ""

    @classmethod
    def of(cls, dialogue: Dialogue) -> Ground:
        """That of a conversation in which nothing goes on. Raises NoAttempts where there are no
        tools, and in plan mode."""
        agent = dialogue.agent
        if agent is None:
            raise NoAttempts(f"attempts change files, which is not possible: {dialogue.toolless}")
        if agent.terms.mode == "plan":
            raise NoAttempts("attempts change files, and plan mode only looks: leave it first")
        dialogue.assistant.wake()
        target = dialogue.launch.target
        options, remark = _varied(dialogue.options, is_gemma4=target.is_gemma4)
        return cls(
            dialogue.engine,
            target,
            options,
            dialogue.conversation,
            agent.bench,
            agent.terms,
            remark,
        )

    @property
    def window(self) -> int:
        """Tokens of one sequence's context."""
        assert self.engine.ready is not None
        return self.engine.ready.context

    def options_of(self, number: int) -> AnswerOptions:
        """With the seed of attempt ``number``, counted from 1."""
        assert self.options.seed is not None
        return replace(self.options, seed=self.options.seed + number - 1)

    def terms_of(self, rule: str) -> Terms:
        """Nobody is asked: what is allowed already is, and ``rule``; in the copy files may be
        changed."""
        rules = Rules([*map(str, self.terms.rules), *filter(None, [rule])])
        return Terms(
            "auto" if self.terms.mode == "auto" else "edits",
            rules,
            tools="on",
            most_calls=self.terms.most_calls,
            network=self.terms.network,
        )


def message_of(task: str, command: str) -> str:
    """What the model is asked: the person's words, with the files that they mention, and what it
    will be measured by."""
    return f"{task}\n\n{_JUDGED.format(command=command)}"


def _varied(options: AnswerOptions, *, is_gemma4: bool) -> tuple[AnswerOptions, str]:
    """Settings under which attempts differ, and what is to be said about them."""
    seed = secrets.randbits(32) if options.seed is None else options.seed
    options, remark = replace(options, seed=seed), ""
    if sampling(options, is_gemma4=is_gemma4).temperature <= 0:
        usual = (GEMMA_SAMPLING if is_gemma4 else GUEST_SAMPLING).temperature
        options = replace(options, temperature=usual)
        remark = f"at temperature 0 all attempts would be the same: they are made at {usual:g}"
    return options, remark

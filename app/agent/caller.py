"""Carries out one call: understands it, has it allowed, does it, and says what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gemma_local.app.agent.budget import Budget, head_tail
from gemma_local.app.agent.call_title import call_title
from gemma_local.app.agent.checkpoints import NotKept
from gemma_local.app.agent.consent import Proposal
from gemma_local.app.agent.events import Outcome, ToolEnded, ToolEvent, ToolOutput, ToolStarted
from gemma_local.app.agent.file_diff import FileDiff
from gemma_local.app.agent.terms import Gate, Refused
from gemma_local.app.agent.tool import Effect, Result, Step, ToolProblem
from gemma_local.app.agent.turn import CallDone
from gemma_local.app.agent.workbench import Workbench
from gemma_local.app.stop import Stop
from gemma_local.app.unexpected import log_unexpected
from gemma_local.engine.client import EngineFailed
from gemma_local.models.tool_call import ParsedCall

_TITLE: Final = 100
_SPARE: Final = 1.25
"""A result may have so many times its tokens before it is cut: those are reckoned from characters,
and cautiously."""
_STOPPED: Final = "The user stopped this before it was done."


@dataclass(frozen=True, slots=True)
class Called:
    """A call that has ended. ``title`` is what the person saw, ``path`` the file or folder that it
    was about."""

    done: CallDone
    title: str
    diff: FileDiff | None = None
    path: Path | None = None
    has_changed: bool = False


class Caller:
    """Used from one thread, but for calls of helpers, which may be carried out at once."""

    def __init__(
        self,
        bench: Workbench,
        gate: Gate,
        tell: Callable[[ToolEvent], None],
        count: Callable[[str], int],
    ) -> None:
        """``tell`` hears what happens, ``count`` gives a text's tokens."""
        self._bench = bench
        self._tools = {tool.declaration.name: tool for tool in bench.tools}
        self._gate = gate
        self._tell = tell
        self._count = count

    def call(self, id_: str, parsed: ParsedCall, stop: Stop) -> Called:
        """Carry a call out. Whatever goes wrong with it becomes a result that the model reads."""
        if parsed.verdict == "rejected":
            title = _one_line(parsed.raw or parsed.name)
            return self._refused(id_, parsed, title, "failed", "not understood", parsed.problem)
        try:
            step = self._tools[parsed.name].step(parsed.arguments)
            effect = step.effect
        except ToolProblem as problem:
            title = call_title(parsed.arguments)
            return self._refused(id_, parsed, title, "failed", _summary(problem), str(problem))
        except Exception as error:  # noqa: BLE001 - a bug in a tool must not end the turn
            return self._refused(id_, parsed, parsed.name, "failed", *_unexpected(error))
        if (refused := self._gate.refusal(self._proposal(id_, parsed, effect), effect)) is not None:
            if stop.is_asked:
                return self._refused(id_, parsed, effect.title, "stopped", "stopped", _STOPPED)
            return self._not_allowed(id_, parsed, effect, refused)
        return self._carried_out(id_, parsed, step, effect, stop)

    def _proposal(self, id_: str, parsed: ParsedCall, effect: Effect) -> Proposal:
        folder = self._bench.command_folder if effect.command else ""
        return Proposal(
            id_, parsed.name, effect.title, command=effect.command, folder=folder, diff=effect.diff
        )

    def _carried_out(
        self, id_: str, parsed: ParsedCall, step: Step, effect: Effect, stop: Stop
    ) -> Called:
        self._tell(ToolStarted(id_, parsed.name, effect.title, parsed.arguments))
        start = time.monotonic()
        try:
            result = step.carry_out(stop, lambda text: self._tell(ToolOutput(id_, text)))
        except ToolProblem as problem:
            result = Result(str(problem), _summary(problem), ok=False)
        except Exception as error:  # noqa: BLE001 - as above
            summary, text = _unexpected(error)
            result = Result(text, summary, ok=False)
        seconds = time.monotonic() - start
        if effect.kind == "run":
            # What it did to files that were touched before is the model's doing, too.
            with suppress(NotKept):
                self._bench.checkpoints.settle()
        outcome: Outcome = "ok" if result.ok else "stopped" if stop.is_asked else "failed"
        text = fitted(result.text, self._bench.kit.budget, self._count)
        self._tell(ToolEnded(id_, outcome, result.summary, text, result.diff, seconds))
        return Called(
            CallDone(
                id_, parsed.name, parsed.arguments, outcome, result.summary, text, seconds=seconds
            ),
            effect.title,
            result.diff,
            self._path(parsed),
            has_changed=effect.kind == "edit" and result.ok,
        )

    def _not_allowed(
        self, id_: str, parsed: ParsedCall, effect: Effect, refused: Refused
    ) -> Called:
        summary = "refused" if refused.by_person else "not allowed"
        return self._refused(
            id_, parsed, effect.title, "refused", summary, refused.sentence, nobody=refused.nobody
        )

    def _refused(
        self,
        id_: str,
        parsed: ParsedCall,
        title: str,
        outcome: Outcome,
        summary: str,
        text: str,
        *,
        nobody: bool = False,
    ) -> Called:
        """A call that was not carried out."""
        text = fitted(text, self._bench.kit.budget, self._count)
        self._tell(ToolStarted(id_, parsed.name, title, parsed.arguments))
        self._tell(ToolEnded(id_, outcome, summary, text))
        done = CallDone(id_, parsed.name, parsed.arguments, outcome, summary, text, nobody=nobody)
        return Called(done, title)

    def _path(self, parsed: ParsedCall) -> Path | None:
        written = parsed.arguments.get("path")
        if not isinstance(written, str):
            return None
        try:
            return self._bench.kit.workspace.reading(written).path
        except ToolProblem:
            return None


def fitted(text: str, budget: Budget, count: Callable[[str], int]) -> str:
    """``text`` in what a result may take of the window, if need be without its middle.

    Tools keep to a number of characters; where a character is a token or more, that is too much.
    """
    text = head_tail(text, budget.result_characters)
    for _ in range(3):
        try:
            tokens = count(text)
        except EngineFailed:
            # The tool has done what it did, and that must be written down.
            break
        if tokens <= budget.result_tokens * _SPARE:
            break
        text = head_tail(text, len(text) * budget.result_tokens // tokens)
    return text


def _unexpected(error: Exception) -> tuple[str, str]:
    sentence = log_unexpected(error)
    return "went wrong", f"The tool itself failed, and nothing can be done about it: {sentence}."


def _summary(problem: ToolProblem) -> str:
    """The first sentence of a problem, for the person."""
    first = str(problem).split("\n")[0].split(". ")[0].rstrip(".:")
    return first if len(first) <= _TITLE else f"{first[: _TITLE - 3]}..."


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _TITLE else f"{line[: _TITLE - 3]}..."

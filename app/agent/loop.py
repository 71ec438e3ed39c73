"""The agent: the model and its tools, turn by turn.

A turn is answer, calls, results, answer, and so on until an answer has no calls. All of it is one
turn of the model's in the prompt, so that only what is new is read: the results.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final, Protocol

from gemma_local.app.agent.caller import Called, Caller
from gemma_local.app.agent.checkpoints import Restoration
from gemma_local.app.agent.consent import Proposal
from gemma_local.app.agent.events import ToolEvent
from gemma_local.app.agent.listener import AgentListener
from gemma_local.app.agent.notes import Notes
from gemma_local.app.agent.repeats import NOTE, NUDGE, Repeats
from gemma_local.app.agent.terms import Gate, Terms
from gemma_local.app.agent.tools.task import NAME as TASK
from gemma_local.app.agent.turn import CallDone, End, Turned, as_call, end_of
from gemma_local.app.agent.workbench import INSTRUCTIONS, Workbench
from gemma_local.app.assistant import Answered, Assistant
from gemma_local.app.conversation import INTERRUPTED
from gemma_local.app.errors import UsageError
from gemma_local.app.interrupts import first_interrupt_calls
from gemma_local.app.stop import Stop
from gemma_local.engine.client import EngineFailed
from gemma_local.models.tool_call import ParsedCall

Steer = Callable[[], Sequence[str]]
"""What the person wrote since it was last asked for; the model reads it with the next result."""

SHOWN: Final = "shown"
"""A key of ``Entry.info`` of a result: what the screen shows of the call."""
DIFF: Final = "diff"
"""The same: path, before and after of a change that is not too long to be kept."""
STEERED: Final = "steered"
"""The same: what the person said that came with the result."""

_NO_CALLS: Final = ("cancelled", "nan", "loop")
"""After an answer that ended so, its calls are not carried out."""
_KEPT_DIFF: Final = 20_000
_WARMER: Final = 0.3
_LEAST_WARM: Final = 0.7


class AnswerOnce(Protocol):
    """Has the last message answered, as ``Assistant.answer`` does."""

    def __call__(self, stop: Stop, temperature: float | None) -> Answered: ...


class Agent:
    """Works for one conversation. Used from one thread, except ``Stop``."""

    def __init__(
        self,
        assistant: Assistant,
        bench: Workbench,
        terms: Terms,
        listener: AgentListener,
        answer: AnswerOnce,
        *,
        temperature: float,
    ) -> None:
        """``assistant``'s conversation offers the tools of ``bench``. ``temperature`` is the usual
        one."""
        self.bench = bench
        self.terms = terms
        self._assistant = assistant
        self._conversation = assistant.conversation
        self._listener = listener
        self._answer = answer
        self._warmer = max(temperature + _WARMER, _LEAST_WARM)
        gate = Gate(terms, listener.notice)
        telling = threading.Lock()

        def tell(event: ToolEvent) -> None:
            # Helpers that work at the same time tell of it in their own threads.
            with telling:
                listener.tool(event)

        self._caller = Caller(bench, gate, tell, assistant.count)
        bench.go_on_with(self._conversation.entries)
        self._notes = Notes.after(self._conversation.entries, bench.todos)

    # -------------------------------------------------------------------------------- the turn

    def turn(self, stop: Stop | None = None, steer: Steer = tuple) -> Turned:
        """Have the last message answered, with as many calls as that takes, or go on with a turn
        that was stopped.

        ``stop``, or the first Ctrl-C, ends it between two calls, in an answer or in a tool that
        runs; what was done by then is kept.

        Raises UsageError if there is nothing to answer, and as ``Assistant.answer`` does.
        """
        stop = Stop() if stop is None else stop
        self._assistant.wake()
        self._settle()
        if not self._conversation.awaits_answer:
            raise UsageError("there is nothing to go on with: say something first")
        self.bench.checkpoints.begin(self._message)
        turn = _Turn(self.terms.most_calls)
        with first_interrupt_calls(stop.ask):
            while True:
                answered = self._answered(stop)
                self._listener.answered(answered)
                calls = [call for call in answered.calls if call.name]
                is_over = answered.message is None or answered.done.reason in _NO_CALLS
                if is_over or not calls:
                    return Turned(end_of(answered), answered, turn.calls)
                if end := self._carry_out(calls, turn, stop, steer):
                    return Turned(end, answered, turn.calls)

    def with_notes(self, text: str) -> tuple[str, dict[str, Any]]:
        """The person's message with what the model must know besides, and what is kept with it."""
        return self._notes.with_notes(text, self.terms.mode, self._conversation.live)

    # ------------------------------------------------------------------------------- going back

    def undo(self) -> Restoration | None:
        """What undoing the changes of the last turn that made any would do. Raises NotRestored."""
        return self.bench.checkpoints.undo()

    def redo(self) -> Restoration | None:
        """What making the changes again that were undone last would do. Raises NotRestored."""
        return self.bench.checkpoints.redo()

    def files_before(self, message: int) -> Restoration | None:
        """What bringing files back to where they were before the message of this number would do.

        Raises NotRestored.
        """
        return self.bench.checkpoints.restore(message)

    def restore(self, restoration: Restoration, *, replace_foreign: bool = False) -> None:
        """Do what was planned, and tell the model with the next message. Raises NotRestored."""
        self.bench.checkpoints.carry_out(restoration, replace_foreign=replace_foreign)
        self._notes.restored(diff.path for diff in restoration.diffs)

    # ---------------------------------------------------------------------------------- inside

    @property
    def _message(self) -> int:
        """The number of the message that the turn is for."""
        said = [entry.number for entry in self._conversation.live if entry.message.role == "user"]
        return said[-1] if said else 0

    def _settle(self) -> None:
        """Calls that were not run when a turn was stopped have brought nothing."""
        for call in self._conversation.unanswered:
            shown = {"outcome": "stopped", "summary": "interrupted", "seconds": 0.0}
            self._conversation.add_result(call.name, INTERRUPTED, info={SHOWN: shown})

    def _answered(self, stop: Stop) -> Answered:
        """The next answer. One that ends in the same tokens over and over, or says nothing, is
        tried once more, a little warmer."""
        answered = self._answer(stop, None)
        message, reason = answered.message, answered.done.reason
        if reason == "loop" and message is not None:
            self._listener.answered(answered)
            self._listener.notice("the model repeated itself; it tries once more, in other words")
            self._conversation.drop([self._conversation.entries[-1].number])
        elif reason == "stop" and not (message and (message.text.strip() or message.calls)):
            if not self._conversation.awaits_answer:
                return answered
            self._listener.answered(answered)
        else:
            return answered
        return self._answer(stop, self._warmer)

    def _carry_out(
        self, calls: Sequence[ParsedCall], turn: _Turn, stop: Stop, steer: Steer
    ) -> End | None:
        """Carry out the calls of one answer, in order; why the turn ends with them, if it does."""
        number = self._conversation.entries[-1].number
        results: dict[int, Called] = {}
        for index, parsed in enumerate(calls):
            if stop.is_asked:
                return "stopped"
            id_ = f"{number}.{index}"
            said: list[str] = []
            if turn.is_at_limit:
                goes_on, word = self._goes_on(
                    id_, parsed.name, f"go on? That was call {len(turn.calls)}", "it is a long turn"
                )
                if not goes_on:
                    return "limit"
                said += word
                turn.raise_limit()
            if index not in results:
                results |= self._called(number, calls, index, stop)
            called = results[index]
            turn.calls.append(called.done)
            end, note, word = self._look_back(called, turn, stop)
            said += word
            if index == len(calls) - 1 and end is None:
                said += steer()
            self._keep(called, note, said)
            if end is not None:
                return end
        return "stopped" if stop.is_asked else None

    def _called(
        self, number: int, calls: Sequence[ParsedCall], first: int, stop: Stop
    ) -> dict[int, Called]:
        """The call ``first`` of the answer ``number`` by index; of helpers all that are asked in a
        row, at the same time."""
        last = first + 1
        while last < len(calls) and calls[first].name == calls[last].name == TASK:
            last += 1
        places = range(first, last)
        if len(places) == 1:
            return {first: self._caller.call(f"{number}.{first}", calls[first], stop)}
        with ThreadPoolExecutor(len(places)) as pool:
            running = [
                pool.submit(self._caller.call, f"{number}.{index}", calls[index], stop)
                for index in places
            ]
            return {index: each.result() for index, each in zip(places, running, strict=True)}

    def _look_back(
        self, called: Called, turn: _Turn, stop: Stop
    ) -> tuple[End | None, str, list[str]]:
        """Whether the model goes round in circles: why the turn ends, a note for the model, and
        what the person says to that."""
        done = called.done
        rung, count = turn.repeats.saw(as_call(done), done.body, has_changed=called.has_changed)
        match rung:
            case "note":
                return None, NOTE, []
            case "nudge":
                return None, NUDGE.format(count=count), []
            case "ask" if not stop.is_asked:
                goes_on, word = self._goes_on(
                    done.id,
                    done.tool,
                    f"go on? {called.title}",
                    f"it has done this {count} times, and the result is always the same",
                )
                turn.repeats.go_on()
                return None if goes_on else "loop", NUDGE.format(count=count), word
        return None, "", []

    def _goes_on(self, id_: str, tool: str, title: str, why: str) -> tuple[bool, list[str]]:
        """Whether the person wants the turn to go on, and what they say to the model. A no with a
        reason is a word to the model; one without ends the turn."""
        if self.terms.consent is None:
            return False, []
        verdict = self.terms.consent(Proposal(id_, tool, title, why=why))
        reason = verdict.reason.strip()
        if not verdict.is_yes and reason:
            return True, [reason]
        return verdict.is_yes, []

    def _keep(self, called: Called, note: str, said: Sequence[str]) -> None:
        """Write a result down, with all that the model reads with it."""
        done = called.done
        info: dict[str, Any] = {
            SHOWN: {
                "outcome": done.outcome,
                "summary": done.summary,
                "seconds": round(done.seconds, 3),
                "title": called.title,
            }
        }
        diff = called.diff
        if diff is not None and len(diff.before or "") + len(diff.after or "") <= _KEPT_DIFF:
            info[DIFF] = {"path": diff.path, "before": diff.before, "after": diff.after}
        text = done.body
        if done.outcome == "ok" and called.path is not None:
            texts: dict[str, str] = {}
            # Without an engine nothing can be counted; what was done is written down all the same.
            with suppress(EngineFailed):
                texts = self.bench.nested.on_the_way_to(called.path)
            if texts:
                info[INSTRUCTIONS] = list(texts)
            for name, own in texts.items():
                text += f"\n\nWhat this folder asks for ({name}):\n{own}"
        if note:
            text += f"\n[{note}]"
        if said:
            info[STEERED] = list(said)
        self._conversation.add_result(done.tool, text, said="\n\n".join(said), info=info)
        if said:
            self._listener.told(said)


class _Turn:
    """What happened in a turn so far."""

    def __init__(self, most_calls: int) -> None:
        self.calls: list[CallDone] = []
        self.repeats = Repeats()
        self._most_calls = most_calls
        self._limit = most_calls

    @property
    def is_at_limit(self) -> bool:
        return len(self.calls) >= self._limit

    def raise_limit(self) -> None:
        self._limit += self._most_calls

"""Helpers: agents that only look, each in a conversation and on a sequence of its own.

Their prompts begin with the very rules and tools of the conversation that they help, so that
these are not read again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from gemma_local.app.agent.budget import head_of
from gemma_local.app.agent.checkpoints import Checkpoints
from gemma_local.app.agent.events import ToolEnded, ToolEvent, ToolStarted
from gemma_local.app.agent.instructions import NestedInstructions
from gemma_local.app.agent.loop import Agent
from gemma_local.app.agent.terms import Terms
from gemma_local.app.agent.tool import Result, Tool, ToolProblem
from gemma_local.app.agent.tools.kit import Kit
from gemma_local.app.agent.tools.list import List
from gemma_local.app.agent.tools.read import Read
from gemma_local.app.agent.tools.search import Search
from gemma_local.app.agent.tools.task import Barred
from gemma_local.app.agent.tools.todo import TodoList
from gemma_local.app.agent.turn import Turned
from gemma_local.app.agent.workbench import Workbench
from gemma_local.app.assistant import Answered, Assistant, MakeRequest
from gemma_local.app.conversation import Conversation
from gemma_local.app.record import Unsaved
from gemma_local.app.stop import Stop
from gemma_local.engine.client import Engine
from gemma_local.engine.messages import Delta, Event, Generate
from gemma_local.models.chat_format import Rendering
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.reply import Part

MOST_CALLS: Final = 16
MOST_TOKENS: Final = 4_000
"""That a helper writes, thoughts included."""
_ANSWER: Final = 1_500
"""Tokens of one of its answers."""
_SHARE: Final = 0.5
"""Of what a result may take of the window: the report is for the conversation, and stays there."""
_LAST: Final = 3
"""Calls before the end at which it is told to report."""

_MOMENT: Final = 0.1

_STOPPED: Final = Result("The user stopped this before it was done.", "stopped", ok=False)
_ASKED: Final = (
    "{prompt}\n\n[You help another assistant. Find this out with read, search and list alone, and"
    " then report in a few sentences: what you found, and in which files and lines. Only the report"
    " is read.]"
)
_BARRED: Final = "A helper only looks: use read, search or list, then report what you found."
_REPORT: Final = "No more calls: report now what you have found."


class Helpers:
    """May be used from several threads; each call is a helper of its own."""

    def __init__(
        self,
        engine: Engine,
        conversation: Conversation,
        make_request: MakeRequest,
        bench: Workbench,
        terms: Terms,
        *,
        is_gemma4: bool,
    ) -> None:
        """``conversation`` is the one that is helped, ``bench`` and ``terms`` are its own."""
        self._engine = engine
        self._conversation = conversation
        self._make_request = make_request
        self._bench = bench
        self._terms = terms
        self._is_gemma4 = is_gemma4
        assert engine.ready is not None
        # More at once would push each other's conversations out.
        self._places = threading.Semaphore(engine.ready.sequences)

    def help(self, prompt: str, stop: Stop, on_output: Callable[[str], None]) -> Result:
        """Find out what ``prompt`` asks for. Raises ToolProblem."""
        while not self._places.acquire(timeout=_MOMENT):
            if stop.is_asked:
                return _STOPPED
        try:
            return self._help(prompt, stop, on_output)
        finally:
            self._places.release()

    def _help(self, prompt: str, stop: Stop, on_output: Callable[[str], None]) -> Result:
        own, ear = Stop(), _Ear(on_output)
        conversation = self._conversation.twin(Unsaved(), entries=())
        assistant = Assistant(
            self._engine, conversation, ear, self._request, is_gemma4=self._is_gemma4
        )

        def answer(stop: Stop, temperature: float | None) -> Answered:
            return assistant.answer(None, stop, temperature=temperature)

        terms = Terms("ask", self._terms.rules, tools="on", most_calls=MOST_CALLS)
        bench = self._looking(assistant.count)
        agent = Agent(assistant, bench, terms, ear, answer, temperature=0.0)
        conversation.ask(_ASKED.format(prompt=prompt))
        try:
            with stop.calling(own.ask):
                turned = agent.turn(own, lambda: self._word(ear, own))
        except GemmaLocalError as error:
            raise ToolProblem(f"The helper could not finish: {error}.") from error
        if stop.is_asked:
            return _STOPPED
        return self._result(turned, ear)

    def _request(self, rendering: Rendering) -> Generate:
        # Its state is not that of the conversation, and is kept nowhere.
        request = replace(self._make_request(rendering), session="")
        return replace(request, max_tokens=min(request.max_tokens or _ANSWER, _ANSWER))

    def _looking(self, count: Callable[[str], int]) -> Workbench:
        """The same workbench for somebody who only looks."""
        main = self._bench
        kit = Kit(main.kit.workspace, main.kit.budget)
        looking: dict[str, Tool] = {
            tool.declaration.name: tool for tool in (Read(kit), Search(kit), List(kit))
        }
        return replace(
            main,
            kit=kit,
            tools=tuple(
                looking.get(tool.declaration.name) or Barred(tool, _BARRED) for tool in main.tools
            ),
            nested=NestedInstructions(kit.workspace, kit.budget, count),
            todos=TodoList(),
            # Nothing is changed, so the folder is never made.
            checkpoints=Checkpoints(main.sandbox.temporary / "unused"),
        )

    def _word(self, ear: _Ear, own: Stop) -> Sequence[str]:
        """What the helper is told with a result: when it is time to report."""
        if ear.calls < MOST_CALLS - _LAST and ear.tokens < MOST_TOKENS:
            return ()
        if ear.was_told:
            # It goes on all the same; what it said by now is the report.
            own.ask()
        ear.was_told = True
        return (_REPORT,)

    def _result(self, turned: Turned, ear: _Ear) -> Result:
        message = turned.answered.message
        report = message.text.strip() if message is not None else ""
        if not report:
            raise ToolProblem(
                f"The helper made {ear.calls} calls and reported nothing. Look for yourself, or ask"
                " for less."
            )
        most = int(self._bench.kit.budget.result_characters * _SHARE)
        summary = f"{ear.calls} call{'' if ear.calls == 1 else 's'}, {ear.tokens:,} tokens"
        return Result(head_of(report, most), summary)


class _Ear:
    """The listener of one helper's turn."""

    def __init__(self, on_output: Callable[[str], None]) -> None:
        self._on_output = on_output
        self._title = ""
        self.calls = 0
        self.tokens = 0
        self.was_told = False

    def event(self, event: Event) -> None:
        pass

    def parts(self, parts: Sequence[Part], drafted: Sequence[bool], delta: Delta | None) -> None:
        pass

    def died(self, why: str) -> None:
        self._on_output(f"{why}; it goes on in a new engine\n")

    def notice(self, sentence: str) -> None:
        self._on_output(f"{sentence}\n")

    def tool(self, event: ToolEvent) -> None:
        match event:
            case ToolStarted():
                self._title = f"{event.tool} {event.title}"
            case ToolEnded():
                self.calls += 1
                self._on_output(f"{self._title}: {event.summary or event.outcome}\n")

    def answered(self, answered: Answered) -> None:
        self.tokens += answered.done.tally.emitted_tokens

    def told(self, texts: Sequence[str]) -> None:
        pass

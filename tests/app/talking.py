"""A conversation with a real engine, for tests of what stands between the two."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from gemma_local.app.assistant import Answered, Assistant
from gemma_local.app.conversation import Conversation
from gemma_local.app.options import AnswerOptions
from gemma_local.app.prompts import prompt_writer
from gemma_local.app.record import Record, Unsaved
from gemma_local.app.requests import request
from gemma_local.app.sessions.entry import Entry
from gemma_local.engine.client import Engine
from gemma_local.engine.messages import Delta, Event, Load
from gemma_local.models.message import Message, Tool
from gemma_local.models.reply import AnswerText, Part, ThoughtText
from gemma_local.models.target import inspect_target
from tests.ggufs import Pair
from tests.waiting import PATIENCE

GREEDY = AnswerOptions(temperature=0.0, seed=1, draft=3)


@dataclass
class Heard:
    """All that an assistant's listener heard."""

    events: list[Event] = field(default_factory=list)
    thought: str = ""
    answer: str = ""
    deaths: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    def event(self, event: Event) -> None:
        self.events.append(event)

    def parts(self, parts: Sequence[Part], drafted: Sequence[bool], delta: Delta | None) -> None:
        for part in parts:
            match part:
                case ThoughtText(text):
                    self.thought += text
                case AnswerText(text):
                    self.answer += text

    def died(self, why: str) -> None:
        self.deaths.append(why)

    def notice(self, sentence: str) -> None:
        self.notices.append(sentence)


@dataclass
class Talk:
    """A conversation, who answers in it, and what was heard."""

    engine: Engine
    assistant: Assistant
    heard: Heard

    @property
    def conversation(self) -> Conversation:
        return self.assistant.conversation

    def ask(self, text: str) -> Answered:
        """Say something and have it answered."""
        self.assistant.wake()
        self.conversation.ask(text)
        self.heard.thought = self.heard.answer = ""
        return self.assistant.answer()

    def add(self, asked: str, answered: str) -> None:
        """A turn as if it had been answered so."""
        self.conversation.ask(asked)
        answer = self.conversation.answering().finish(Message("assistant", answered))
        self.conversation.keep(answer)

    def kill_engine(self) -> None:
        """As when the system is out of memory."""
        assert self.engine.pid is not None
        os.kill(self.engine.pid, signal.SIGKILL)

    def rest(self) -> None:
        """Give the assistant the time to do all that it does between two answers."""
        self.assistant.idle()
        thread = self.assistant._idle._thread
        if thread is not None:
            thread.join(PATIENCE)
            assert not thread.is_alive()
        self.assistant.wake()


@contextmanager
def talking(
    files: Pair,
    folder: Path,
    options: AnswerOptions = GREEDY,
    *,
    record: Record | None = None,
    entries: Sequence[Entry] = (),
    system: str = "",
    tools: Sequence[Tool] = (),
    session: str = "",
    saves: bool = False,
    **load: object,
) -> Iterator[Talk]:
    """A new engine with a pair loaded, its log and states in ``folder``, and a conversation."""
    wanted = Load(
        str(files.target),
        str(files.drafter),
        context=512,
        threads=1,
        state_folder=str(folder / "states"),
    )
    target = inspect_target(files.target)
    with Engine(folder / "engine.log") as engine:
        engine.start(replace(wanted, **load))  # type: ignore[arg-type]
        heard = Heard()
        conversation = Conversation(
            prompt_writer(target),
            Unsaved() if record is None else record,
            entries,
            system=system,
            tools=tools,
            thinking=options.think is not None,
        )
        assistant = Assistant(
            engine,
            conversation,
            heard,
            lambda rendering: request(
                rendering, options, is_gemma4=target.is_gemma4, session=session
            ),
            is_gemma4=target.is_gemma4,
            saves=saves,
        )
        yield Talk(engine, assistant, heard)
        assistant.wake()

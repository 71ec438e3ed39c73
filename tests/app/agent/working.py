"""An agent at work: a real engine, a real folder, real tools, and a person who is asked."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from gemma_local.app.agent.consent import Mode, Proposal, Verdict
from gemma_local.app.agent.events import ToolEnded, ToolEvent, ToolOutput, ToolStarted
from gemma_local.app.agent.loop import Agent, Steer
from gemma_local.app.agent.rules import Rules
from gemma_local.app.agent.terms import MOST_CALLS, Terms
from gemma_local.app.agent.turn import Turned
from gemma_local.app.agent.workbench import Workbench
from gemma_local.app.assistant import Answered, Assistant
from gemma_local.app.conversation import Conversation
from gemma_local.app.options import AnswerOptions
from gemma_local.app.prompts import prompt_writer
from gemma_local.app.record import Record, Unsaved
from gemma_local.app.requests import request
from gemma_local.app.sessions.entry import Entry
from gemma_local.app.stop import Stop
from gemma_local.engine.client import Engine
from gemma_local.engine.messages import Load, Tally
from gemma_local.models.message import Message
from gemma_local.models.prompt import Text
from gemma_local.models.target import inspect_target
from tests.app.talking import GREEDY, Heard
from tests.ggufs import Pair

YES = Verdict("once")
NO = Verdict("no")


@dataclass
class Overheard(Heard):
    """All that a turn's listener heard."""

    tools: list[ToolEvent] = field(default_factory=list)
    answers: list[Answered] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    does: Callable[[ToolEvent | Answered], None] = lambda heard: None

    def tool(self, event: ToolEvent) -> None:
        self.tools.append(event)
        self.does(event)

    def answered(self, answered: Answered) -> None:
        self.answers.append(answered)
        self.does(answered)

    def told(self, texts: Sequence[str]) -> None:
        self.words += texts

    @property
    def started(self) -> list[ToolStarted]:
        return [event for event in self.tools if isinstance(event, ToolStarted)]

    @property
    def ended(self) -> list[ToolEnded]:
        return [event for event in self.tools if isinstance(event, ToolEnded)]

    @property
    def output(self) -> str:
        return "".join(event.text for event in self.tools if isinstance(event, ToolOutput))


@dataclass
class Person:
    """Answers what they are asked, in order; the last answer is given for ever."""

    verdicts: list[Verdict] = field(default_factory=lambda: [YES])
    asked: list[Proposal] = field(default_factory=list)
    does: Callable[[Proposal], None] = lambda proposal: None

    def __call__(self, proposal: Proposal) -> Verdict:
        self.asked.append(proposal)
        self.does(proposal)
        return self.verdicts.pop(0) if len(self.verdicts) > 1 else self.verdicts[0]


@dataclass
class Work:
    """An agent, its folder, and what was heard."""

    root: Path
    engine: Engine
    agent: Agent
    heard: Overheard
    person: Person

    @property
    def conversation(self) -> Conversation:
        return self.agent._conversation

    def do(self, text: str, stop: Stop | None = None, steer: Steer = tuple) -> Turned:
        """Say something and have it done."""
        said, info = self.agent.with_notes(text)
        self.conversation.ask(said, info=info)
        self.heard.thought = self.heard.answer = ""
        return self.agent.turn(stop, steer)

    def read(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    @property
    def results(self) -> list[Message]:
        """What the model reads of the results of its calls."""
        messages = self.conversation.view().messages
        return [message for message in messages if message.role == "tool"]

    @property
    def tallies(self) -> list[Tally]:
        return [answered.done.tally for answered in self.heard.answers]


@contextmanager
def working(
    files: Pair,
    root: Path,
    *,
    mode: Mode = "auto",
    rules: Sequence[str] = (),
    person: Person | None = None,
    alone: bool = False,
    most_calls: int = MOST_CALLS,
    options: AnswerOptions = GREEDY,
    record: Record | None = None,
    entries: Sequence[Entry] = (),
    system: str = "",
    session: str = "",
    context: int = 8_192,
    **load: object,
) -> Iterator[Work]:
    """A new engine with a pair loaded and an agent in ``root``; its other files lie beside that.
    ``alone``: nobody can be asked."""
    folder = root.parent
    wanted = Load(
        str(files.target),
        str(files.drafter),
        context=context,
        threads=1,
        state_folder=str(folder / "states"),
    )
    target = inspect_target(files.target)
    heard, person = Overheard(), Person() if person is None else person
    terms = Terms(mode, Rules(rules), None if alone else person, most_calls=most_calls)
    with Engine(folder / "engine.log") as engine:
        engine.start(replace(wanted, **load))  # type: ignore[arg-type]
        bench = Workbench.open(
            root, context, terms, lambda text: engine.count([(Text(text),)])[0], label=session
        )
        conversation = Conversation(
            prompt_writer(target),
            Unsaved() if record is None else record,
            entries,
            system="\n\n".join(filter(None, (bench.instructions.text, system))),
            tools=[tool.declaration for tool in bench.tools],
            examples=bench.examples,
            thinking=options.think is not None,
        )
        assistant = Assistant(
            engine,
            conversation,
            heard,
            lambda rendering: request(rendering, options, is_gemma4=True, session=session),
            is_gemma4=True,
            saves=bool(session),
        )

        def answer(stop: Stop, temperature: float | None) -> Answered:
            return assistant.answer(None, stop, temperature=temperature)

        agent = Agent(assistant, bench, terms, heard, answer, temperature=0.0)
        try:
            yield Work(bench.kit.workspace.folder, engine, agent, heard, person)
        finally:
            assistant.wake()
            bench.close()


def repository(root: Path, files: Mapping[str, str]) -> Path:
    """A git repository with these files and no others, all of them committed."""
    # Of the working folder that tests begin in.
    (root / "letter.txt").unlink(missing_ok=True)
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    git = shutil.which("git")
    assert git is not None
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    for words in (("init", "-q"), ("add", "-A"), (*who, "commit", "-qm", "first")):
        subprocess.run([git, *words], cwd=root, check=True, capture_output=True)
    return root

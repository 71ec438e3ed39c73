"""A plain chat, line by line, for any terminal."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from typing import Final

from gemma_local.app import folders
from gemma_local.app.answer import Answer
from gemma_local.app.conversation import Conversation
from gemma_local.app.exactness_record import ExactnessRecord, deserves_label
from gemma_local.app.exit_codes import ExitCode
from gemma_local.app.launch import Launch, prepare, show_loading
from gemma_local.app.one_shot import end_of
from gemma_local.app.options import AnswerOptions
from gemma_local.app.prompts import prompt_writer
from gemma_local.app.report import exactness_label, positions_line, speed_line
from gemma_local.app.requests import request
from gemma_local.app.terminal import dim, note, printable, progress
from gemma_local.engine.client import Engine
from gemma_local.engine.messages import Delta, Done, Event, Generate, Loading, Prefill, Ready
from gemma_local.models.errors import GemmaLocalError

HELP: Final = '''\
/new      start a new conversation
/stats    speed and acceptance of the last answer, and what is loaded
/help     this list
/exit     leave; so does Ctrl-D
"""       begins a message of several lines, and ends it
Ctrl-C    stops an answer; what there is of it stays in the conversation'''

_QUOTES: Final = '"""'
_COMMAND: Final = re.compile(r"/[a-z]+")


def run(options: AnswerOptions) -> ExitCode:
    """Chat until the person leaves. Raises GemmaLocalError when the pair cannot be loaded."""
    launch = prepare(options, longest_draft=options.draft)
    # A template that does not work is better known before the model is loaded.
    conversation = Conversation(prompt_writer(launch.target), options.system)
    with suppress(ImportError):
        import readline  # noqa: F401 - gives input() its editing keys
    engine = launch.open()
    try:
        Chat(options, launch, engine, conversation).run()
    except KeyboardInterrupt:
        engine.close(timeout=0.0)
        raise
    finally:
        engine.close()
    return ExitCode.OK


class Chat:
    """The conversation and the loop that reads lines and writes answers."""

    def __init__(
        self, options: AnswerOptions, launch: Launch, engine: Engine, conversation: Conversation
    ) -> None:
        self._options = options
        self._launch = launch
        self._engine = engine
        self._conversation = conversation
        self._last: Done | None = None
        self._last_label = ""
        assert engine.ready is not None
        self._ready: Ready = engine.ready

    def run(self) -> None:
        """Read messages and commands until the end of input or /exit."""
        say(dim(f"{self._describe_pair()}\n/help lists the commands", sys.stdout))
        while (message := read_message()) is not None:
            match message.strip():
                case "":
                    continue
                case "/exit" | "/quit":
                    return
                case "/new":
                    self._conversation.clear()
                    say(dim("a new conversation", sys.stdout))
                case "/stats":
                    self._show_stats()
                case "/help":
                    say(HELP)
                case word if _COMMAND.fullmatch(word):
                    say(dim(f"there is no command {word}; /help lists them", sys.stdout))
                case _:
                    self._answer(message)

    def _answer(self, message: str) -> None:
        """Ask, show the answer as it comes, and keep both."""
        try:
            prompt = self._conversation.ask(message)
        except GemmaLocalError as error:
            note(str(error))
            return
        asked = request(prompt, self._options, is_gemma4=self._launch.target.is_gemma4)
        answer = Answer(self._engine, asked, show_event, _say_died)
        try:
            self._finish(asked, answer.run())
        except GemmaLocalError as error:
            progress.clear()
            if answer.text:
                say("")
            note(str(error))
        if answer.text:
            self._conversation.keep(answer.text, answer.tokens)
        else:
            self._conversation.withdraw()

    def _finish(self, asked: Generate, done: Done) -> None:
        self._last = done
        record = ExactnessRecord(folders.exactness_path())
        exact = deserves_label(record, self._ready, self._launch.load, asked.sampling, done)
        self._last_label = exactness_label(exact=exact, lenience=asked.sampling.lenience)
        say("")
        if done.reason == "cancelled":
            say(dim("stopped", sys.stdout))
        end_of(done, self._ready.context)
        say(dim(speed_line(done.tally, self._last_label), sys.stdout))

    def _show_stats(self) -> None:
        lines = [self._describe_pair()]
        if self._last is not None:
            tally = self._last.tally
            lines += [speed_line(tally, self._last_label), positions_line(tally)]
        say("\n".join(line for line in lines if line))

    def _describe_pair(self) -> str:
        ready = self._ready
        drafting = f"drafter, up to {ready.draft_max} tokens" if ready.drafter else "no drafter"
        return f"{ready.name} · {drafting} · context {ready.context} · threads {ready.threads}"


def read_message() -> str | None:
    """The next message, None at the end of input. Ctrl-C throws the line away."""
    while True:
        try:
            line = input("> ")
            if not line.startswith(_QUOTES):
                return line
            return _read_until_quotes(line.removeprefix(_QUOTES))
        except EOFError:
            say("")
            return None
        except KeyboardInterrupt:
            say(dim("\nCtrl-D or /exit leaves", sys.stdout))


def _read_until_quotes(line: str) -> str:
    lines = []
    while not line.rstrip().endswith(_QUOTES):
        lines.append(line)
        line = input("... ")
    lines.append(line.rstrip().removesuffix(_QUOTES))
    return "\n".join(lines).strip("\n")


def show_event(event: Event) -> None:
    """Write the answer as it comes; until then, what is being waited for."""
    match event:
        case Delta() if event.text:
            progress.clear()
            sys.stdout.write(printable(event.text, sys.stdout))
            sys.stdout.flush()
        case Prefill() if event.done < event.total:
            progress.show(f"reading the prompt: {event.done} of {event.total} tokens")
        case Loading():
            show_loading(event)


def say(text: str) -> None:
    """A line to the person, on standard output."""
    progress.clear()
    print(text, flush=True)


def _say_died(why: str) -> None:
    say("")
    note(f"{why}; starting it again to go on")

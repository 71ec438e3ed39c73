"""A plain chat, line by line, for any terminal."""

from __future__ import annotations

import re
import sys
from contextlib import closing, suppress
from typing import Final

from gemma_local.app import folders
from gemma_local.app.assistant import Answered, Assistant
from gemma_local.app.chat_view import ChatView, say, show_last_turn
from gemma_local.app.conversation import Conversation
from gemma_local.app.exactness_record import ExactnessRecord, deserves_label
from gemma_local.app.exit_codes import ExitCode
from gemma_local.app.launch import Launch, prepare
from gemma_local.app.one_shot import end_of
from gemma_local.app.options import AnswerOptions
from gemma_local.app.prompts import PromptWriter, prompt_writer
from gemma_local.app.report import (
    cache_line,
    exactness_label,
    measurements,
    positions_line,
    speed_line,
)
from gemma_local.app.requests import request
from gemma_local.app.saving import Kept, Saving
from gemma_local.app.speed_record import remember_answer
from gemma_local.app.terminal import dim, note, progress
from gemma_local.engine.client import Engine
from gemma_local.engine.messages import Done, Ready
from gemma_local.models.errors import GemmaLocalError

HELP: Final = '''\
/new      start a new conversation
/context  what takes how much of the context
/compact  make room in it: old messages become a summary
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
    # A template that does not work, or a session that is not there, is better known before the
    # model is loaded.
    writer = prompt_writer(launch.target)
    with suppress(ImportError):
        import readline  # noqa: F401 - gives input() its editing keys
    with closing(Saving(options, note)) as saving:
        if saving.keeps:
            launch = launch.with_states()
        engine = launch.open()
        try:
            with closing(Chat(options, launch, writer, engine, saving)) as chat:
                chat.run()
        except KeyboardInterrupt:
            engine.close(timeout=0.0)
            raise
        finally:
            engine.close()
    return ExitCode.OK


class Chat:
    """The conversation and the loop that reads lines and writes answers."""

    def __init__(
        self,
        options: AnswerOptions,
        launch: Launch,
        writer: PromptWriter,
        engine: Engine,
        saving: Saving,
    ) -> None:
        self._options = options
        self._launch = launch
        self._writer = writer
        self._engine = engine
        self._saving = saving
        self._view = ChatView()
        self._last: Done | None = None
        self._last_label = ""
        assert engine.ready is not None
        self._ready: Ready = engine.ready
        self._kept = saving.open(self._ready, system=options.system or "")
        self._assistant = self._talk_in(self._kept)

    def run(self) -> None:
        """Read messages and commands until the end of input or /exit."""
        say(dim(f"{self._describe_pair()}\n/help lists the commands", sys.stdout))
        if self._kept.entries:
            say(dim(f"going on with {self._kept.label} · {self._kept.title}", sys.stdout))
            show_last_turn(self._kept.entries)
            self._assistant.idle()
        while (message := read_message()) is not None:
            try:
                if not self._carry_out(message):
                    break
            except GemmaLocalError as error:
                note(str(error))
        self._leave()

    def close(self) -> None:
        """Give the session back."""
        self._kept.close()

    def _carry_out(self, message: str) -> bool:
        """Do what a line says; whether the chat goes on. Raises GemmaLocalError."""
        match message.strip():
            case "":
                pass
            case "/exit" | "/quit":
                return False
            case "/new":
                self._begin_anew()
            case "/context":
                say(self._assistant.use().line())
                self._assistant.idle()
            case "/compact":
                done = self._assistant.compact()
                say(dim("stopped" if done is None else done.sentence(), sys.stdout))
                self._assistant.idle()
            case "/stats":
                self._show_stats()
            case "/help":
                say(HELP)
            case word if _COMMAND.fullmatch(word):
                say(dim(f"there is no command {word}; /help lists them", sys.stdout))
            case _:
                self._answer(message)
        return True

    def _answer(self, message: str) -> None:
        """Ask, show the answer as it comes, and keep both. Raises GemmaLocalError."""
        self._assistant.wake()
        self._assistant.conversation.ask(message)
        try:
            answered = self._assistant.answer(lambda done, _message: measurements(done.tally))
        except GemmaLocalError:
            self._view.end_answer()
            raise
        self._finish(answered)
        self._assistant.idle()

    def _finish(self, answered: Answered) -> None:
        done, sampling = answered.done, answered.request.sampling
        self._last = done
        record = ExactnessRecord(folders.exactness_path())
        exact = deserves_label(record, self._ready, self._launch.load, sampling, done)
        self._last_label = exactness_label(exact=exact, lenience=sampling.lenience)
        self._view.end_answer()
        if done.reason == "cancelled":
            say(dim("stopped", sys.stdout))
        end_of(done, self._ready.context)
        say(dim(speed_line(done.tally, self._last_label), sys.stdout))
        remember_answer(self._launch, self._ready, done, self._engine.pid)

    def _begin_anew(self) -> None:
        self._leave()
        self._kept.close()
        self._kept = self._saving.open_new(self._ready, system=self._options.system or "")
        self._assistant = self._talk_in(self._kept)
        say(dim("a new conversation", sys.stdout))

    def _leave(self) -> None:
        if self._assistant.conversation.entries and self._kept.label:
            progress.show("keeping what was read, for the next time")
            self._assistant.leave()
            progress.clear()

    def _talk_in(self, kept: Kept) -> Assistant:
        options, is_gemma4 = self._options, self._launch.target.is_gemma4
        conversation = Conversation(
            self._writer,
            kept.record,
            kept.entries,
            system=kept.system,
            thinking=options.think is not None,
        )
        return Assistant(
            self._engine,
            conversation,
            self._view,
            lambda rendering: request(rendering, options, is_gemma4=is_gemma4, session=kept.label),
            is_gemma4=is_gemma4,
            saves=bool(kept.label),
        )

    def _show_stats(self) -> None:
        lines = [self._describe_pair()]
        if self._last is not None:
            tally = self._last.tally
            lines += [speed_line(tally, self._last_label), positions_line(tally)]
            lines += [cache_line(self._last.cache)]
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

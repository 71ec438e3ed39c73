"""A plain chat, line by line, for any terminal."""

from __future__ import annotations

import re
import sys
from contextlib import closing, suppress
from typing import Final

from gemma_local.app.chat_view import ChatView, say, show_last_turn
from gemma_local.app.dialogue import Dialogue
from gemma_local.app.drafting_report import drafting_lines
from gemma_local.app.exit_codes import ExitCode
from gemma_local.app.one_shot import end_of
from gemma_local.app.options import AnswerOptions
from gemma_local.app.report import cache_line, speed_line
from gemma_local.app.saving import Saving
from gemma_local.app.terminal import dim, note, progress
from gemma_local.engine.messages import Done
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
    view = ChatView()
    dialogue = Dialogue(options, view)
    dialogue.prepare()
    with suppress(ImportError):
        import readline  # noqa: F401 - gives input() its editing keys
    # A session that is not there is better known before the model is loaded.
    with closing(Saving(options, note)) as saving:
        try:
            dialogue.open(saving)
            Chat(dialogue, view).run()
        except KeyboardInterrupt:
            dialogue.close(at_once=True)
            raise
        finally:
            dialogue.close()
    return ExitCode.OK


class Chat:
    """The loop that reads lines and writes answers."""

    def __init__(self, dialogue: Dialogue, view: ChatView) -> None:
        """``dialogue`` is open, and ``view`` listens to it."""
        self._dialogue = dialogue
        self._view = view

    def run(self) -> None:
        """Read messages and commands until the end of input or /exit."""
        say(dim(f"{self._describe_pair()}\n/help lists the commands", sys.stdout))
        kept = self._dialogue.kept
        if kept.entries:
            say(dim(f"going on with {kept.label} · {kept.title}", sys.stdout))
            show_last_turn(kept.entries)
            self._dialogue.assistant.idle()
        while (message := read_message()) is not None:
            try:
                if not self._carry_out(message):
                    break
            except GemmaLocalError as error:
                note(str(error))
        self._leave()

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
                say(self._dialogue.use().line())
                self._dialogue.assistant.idle()
            case "/compact":
                done = self._dialogue.assistant.compact()
                say(dim("stopped" if done is None else done.sentence(), sys.stdout))
                self._dialogue.assistant.idle()
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
        try:
            answered = self._dialogue.ask(message)
        except GemmaLocalError:
            self._view.end_answer()
            raise
        self._finish(answered.done)
        self._dialogue.assistant.idle()

    def _finish(self, done: Done) -> None:
        self._view.end_answer()
        if done.reason == "cancelled":
            say(dim("stopped", sys.stdout))
        end_of(done, self._dialogue.ready.context)
        say(dim(speed_line(done.tally, self._dialogue.last_label), sys.stdout))

    def _begin_anew(self) -> None:
        self._leave()
        self._dialogue.begin_new()
        say(dim("a new conversation", sys.stdout))

    def _leave(self) -> None:
        if self._dialogue.conversation.entries and self._dialogue.kept.label:
            progress.show("keeping what was read, for the next time")
            self._dialogue.leave()
            progress.clear()

    def _show_stats(self) -> None:
        lines, last = [self._describe_pair()], self._dialogue.last
        if last is not None:
            lines.append(speed_line(last.tally, self._dialogue.last_label))
            lines += drafting_lines(last.tally, self._dialogue.ready.name)
            lines.append(cache_line(last.cache))
        say("\n".join(lines))

    def _describe_pair(self) -> str:
        ready = self._dialogue.ready
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

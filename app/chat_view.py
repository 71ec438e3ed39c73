"""What a plain chat writes to the terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from gemma_local.app.launch import show_loading
from gemma_local.app.sessions.entry import Entry
from gemma_local.app.terminal import dim, note, printable, progress
from gemma_local.engine.messages import Delta, Event, Loading, Prefill
from gemma_local.models.reply import AnswerText, Part, ThoughtText


class ChatView:
    """Writes answers as they come: thoughts in a quieter colour, then the answer."""

    def __init__(self) -> None:
        self._is_thinking = False
        self._ends_line = True

    def event(self, event: Event) -> None:
        """Show what is being waited for."""
        match event:
            case Prefill() if event.done < event.total:
                progress.show(f"reading the prompt: {event.done} of {event.total} tokens")
            case Loading():
                show_loading(event)

    def parts(self, parts: Sequence[Part], drafted: Sequence[bool], delta: Delta | None) -> None:
        for part in parts:
            match part:
                case ThoughtText():
                    self._is_thinking = True
                    self._write(part.text, quietly=True)
                case AnswerText():
                    if self._is_thinking:
                        self.end_line()
                        self._write("\n")
                    self._is_thinking = False
                    self._write(part.text)
        sys.stdout.flush()

    def died(self, why: str) -> None:
        self.end_line()
        note(f"{why}; starting it again to go on")

    def notice(self, sentence: str) -> None:
        self.end_line()
        say(dim(sentence, sys.stdout))

    def end_line(self) -> None:
        """Begin what comes next on a line of its own."""
        progress.clear()
        if not self._ends_line:
            self._write("\n")

    def end_answer(self) -> None:
        """The answer is over."""
        self.end_line()
        self._is_thinking = False

    def _write(self, text: str, *, quietly: bool = False) -> None:
        progress.clear()
        shown = printable(text, sys.stdout)
        sys.stdout.write(dim(shown, sys.stdout) if quietly else shown)
        self._ends_line = text.endswith("\n")


def say(text: str) -> None:
    """A line to the person, on standard output."""
    progress.clear()
    print(text, flush=True)


def show_last_turn(entries: Sequence[Entry]) -> None:
    """Remind the person where a conversation was: its last question and what was answered."""
    users = [i for i, e in enumerate(entries) if e.message.role == "user" and e.kind == "message"]
    for entry in entries[users[-1] :] if users else ():
        text = printable(entry.written.strip(), sys.stdout)
        if entry.message.role == "user":
            say(dim("\n".join(f"> {line}" for line in text.split("\n")), sys.stdout))
        elif entry.message.role == "assistant" and text:
            say(text)
            if entry.state == "stopped":
                say(dim("(stopped)", sys.stdout))

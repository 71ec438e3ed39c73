"""A session as text on a terminal or in a pipe."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator, Sequence
from datetime import datetime

from gemma_local.app.sessions.entry import Entry, SessionInfo
from gemma_local.app.sessions.listing import age
from gemma_local.app.sessions.readable import arguments_text, ending, result_text, speaker
from gemma_local.app.terminal import dim, printable


def write_transcript(
    info: SessionInfo, entries: Sequence[Entry], now: datetime, *, thoughts: bool
) -> None:
    """Write the session to standard output. Messages have their numbers, for ``branch --at``."""
    _say(info.title)
    facts = (info.id, age(info.updated, now), info.model, str(info.folder))
    _say_quietly(" · ".join(fact for fact in facts if fact))
    for entry in entries:
        name = f" · {entry.message.tool}" if entry.message.tool else ""
        _say("")
        _say_quietly(f"[{entry.number}] {speaker(entry)}{name}")
        if thoughts and entry.message.thought:
            _say_quietly(_indented(entry.message.thought))
        for text in _texts(entry):
            _say(text)
        if end := ending(entry):
            _say_quietly(f"({end})")


def _texts(entry: Entry) -> Iterator[str]:
    message = entry.message
    if message.role == "tool":
        yield _indented(result_text(message))
    elif message.text:
        yield message.text
    for call in message.calls:
        yield f"calls {call.name}"
        if call.arguments:
            yield _indented(arguments_text(call))


def _indented(text: str) -> str:
    return textwrap.indent(text, "  ")


def _say(text: str) -> None:
    print(printable(text, sys.stdout))


def _say_quietly(text: str) -> None:
    for line in printable(text, sys.stdout).split("\n"):
        print(dim(line, sys.stdout))

"""A few messages of a conversation, cut to what can be taken in at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual.content import Content

from gemma_local.app.sessions.entry import Entry
from gemma_local.app.sessions.readable import result_text, speaker
from gemma_local.app.sessions.titles import one_line
from gemma_local.app.tui.glyphs import Glyphs
from gemma_local.app.tui.lines.cells import cut
from gemma_local.app.tui.screens.rows import MUTED

LINES: Final = 4
"""Of each message."""


def excerpt(entries: Sequence[Entry], width: int, glyphs: Glyphs) -> Content:
    """``entries``, each under the name of who said it and cut so that it takes a few lines where
    lines have ``width`` cells."""
    blocks = [
        Content("\n").join(
            [Content.styled(_title(entry), MUTED), *map(Content, _lines(entry, width, glyphs))]
        )
        for entry in entries
    ]
    return Content("\n\n").join(blocks)


def first_line(entry: Entry) -> str:
    """The first line with something in it."""
    for line in _text(entry).split("\n", 40):
        if shown := one_line(line[:400]):
            return shown
    return "(nothing)"


def _title(entry: Entry) -> str:
    tool = one_line(entry.message.tool)
    return f"{speaker(entry)}: {tool}" if tool else speaker(entry)


def _lines(entry: Entry, width: int, glyphs: Glyphs) -> list[str]:
    # Enough for the few lines that are shown, however long the message is.
    source = _text(entry)[: 400 * LINES]
    lines = [one_line(line) for line in source.splitlines() if line.strip()]
    shown = [cut(line, 2 * width, glyphs.ellipsis) for line in lines[:LINES]]
    if len(lines) > LINES:
        shown.append(glyphs.ellipsis)
    shown += [f"calls {one_line(call.name)}" for call in entry.message.calls]
    return shown or ["(nothing)"]


def _text(entry: Entry) -> str:
    message = entry.message
    return result_text(message) if message.role == "tool" else entry.written

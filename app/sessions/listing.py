"""Sessions and hits as tables, for people."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from gemma_local.app.sessions.entry import Hit, SessionInfo
from gemma_local.app.sessions.titles import clipped
from gemma_local.app.terminal import printable, table

_AGES: Final = ((60, 60, "min"), (3600, 24, "h"), (86400, 14, "d"))


def sessions_table(sessions: Sequence[SessionInfo], now: datetime) -> str:
    """A line for each session; on a terminal titles are cut to its width."""
    rows = [
        (info.id, age(info.updated, now), str(info.messages), clipped(info.model, 24))
        for info in sessions
    ]
    titles = [info.title for info in sessions]
    return _with_texts(("session", "used", "messages", "model"), rows, "title", titles)


def hits_table(hits: Sequence[Hit]) -> str:
    """A line for each place."""
    rows = [(hit.session.id, str(hit.number or ""), hit.role or "title") for hit in hits]
    snippets = [hit.snippet for hit in hits]
    return _with_texts(("session", "message", "said by"), rows, "text", snippets)


def age(at: datetime, now: datetime) -> str:
    """How long ago something was; after two weeks, the day."""
    seconds = (now - at).total_seconds()
    if seconds < 60:
        return "just now"
    for unit, limit, name in _AGES:
        if seconds < unit * limit:
            return f"{int(seconds // unit)} {name} ago"
    return f"{at.astimezone():%Y-%m-%d}"


def _with_texts(
    header: Sequence[str], rows: Sequence[Sequence[str]], heading: str, texts: Sequence[str]
) -> str:
    """A table with one more column, of text, to the left."""
    lines = table(header, rows).split("\n")
    room = max(20, shutil.get_terminal_size().columns - len(lines[0]) - 3)
    on_screen = sys.stdout.isatty()
    cells = [heading, *(clipped(text, room) if on_screen else text for text in texts)]
    width = max(map(len, lines))
    return "\n".join(
        f"{line:{width}}  {printable(cell, sys.stdout)}".rstrip()
        for line, cell in zip(lines, cells, strict=True)
    )

"""Asks which of the saved conversations is meant."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from gemma_local.app.errors import UsageError
from gemma_local.app.sessions.entry import SessionInfo
from gemma_local.app.sessions.listing import sessions_table
from gemma_local.app.sessions.store import SessionStore

OFFERED: Final = 10


def choose_session(store: SessionStore) -> SessionInfo:
    """Show the last conversations, of this folder or else of all, and ask for one.

    Raises UsageError if there is none, or nobody to ask; KeyboardInterrupt if the person leaves.
    """
    sessions = list(store.list(Path.cwd(), OFFERED) or store.list(limit=OFFERED))
    if not sessions:
        raise UsageError("no conversation has been saved yet; start one without --resume")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "--resume needs the id of a conversation where nobody can be asked; "
            "gemma-local sessions list --all shows them"
        )
    header, *lines = sessions_table(sessions, datetime.now(UTC)).split("\n")
    print(f"    {header}")
    for number, line in enumerate(lines, start=1):
        print(f"{number:2}  {line}")
    while True:
        try:
            answer = input("which one? [1] ").strip() or "1"
        except EOFError:
            raise KeyboardInterrupt from None
        if answer.isdecimal() and 1 <= int(answer) <= len(sessions):
            return sessions[int(answer) - 1]
        print(f"give a number from 1 to {len(sessions)}, or Ctrl-C to leave")

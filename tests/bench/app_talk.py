"""A saved conversation for the app to open, and its 300 messages on the screen."""

from __future__ import annotations

from pathlib import Path

from gemma_local.app.sessions.store import SessionStore
from gemma_local.models.message import Message
from tests.bench.transcript import ANSWER

_THOUGHT = "Let me see.\n" * 20


def save_talk(home: Path, messages: int) -> str:
    """Save a conversation where the app with ``home`` looks for it; its id."""
    place = home / "XDG_DATA_HOME" / "gemma-local" / "sessions.sqlite3"
    with (
        SessionStore.open(place) as store,
        store.create(home / "work", "a model", "none") as session,
        session.together(),
    ):
        for number in range(messages // 2):
            session.append(Message("user", f"Question {number}: why does test_parse fail?"))
            thought = _THOUGHT if number % 2 else ""
            session.append(Message("assistant", ANSWER, thought=thought), finish="stop")
        return session.id

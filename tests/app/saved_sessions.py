"""Sessions to look for, to go on with and to delete."""

from __future__ import annotations

from pathlib import Path

from gemma_local.app.sessions.session import Session
from gemma_local.app.sessions.store import SessionStore
from gemma_local.models.message import Message

HERE = Path("/srv/here")


def begin(store: SessionStore, *texts: str, folder: Path = HERE) -> Session:
    session = store.create(folder, "gemma", "vocabulary", system="Be brief.")
    for text in texts:
        session.append(Message("user", text))
    return session


def saved(store: SessionStore, *texts: str, folder: Path = HERE) -> str:
    with begin(store, *texts, folder=folder) as session:
        return session.id


def texts_of(store: SessionStore, id_: str) -> list[str]:
    return [entry.message.text for entry in store.entries(id_)]

"""What can go wrong with saved sessions."""

from __future__ import annotations

from gemma_local.app.errors import UsageError
from gemma_local.models.errors import GemmaLocalError


class SessionsUnavailable(GemmaLocalError):
    """Sessions can't be read or saved at the moment. A conversation can go on without."""


class SessionsDamaged(SessionsUnavailable):
    """The file is damaged. It is left as it is until the person has it repaired."""


class SessionInUse(GemmaLocalError):
    """Another gemma-local is writing to this session."""

    def __init__(self, id: str) -> None:  # noqa: A002 - it is the session's id everywhere
        super().__init__(
            f"session {id} is open in another gemma-local; close it there, or go on in a copy: "
            f"gemma-local sessions branch {id}"
        )
        self.id = id


class NoSuchSession(UsageError):
    """No session, or more than one, answers to what was given."""


class BadExport(GemmaLocalError):
    """A file that is no session exported as JSON."""

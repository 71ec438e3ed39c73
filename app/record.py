"""Where a conversation is kept: in a session on disk, or only as long as the program runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal, Protocol

from gemma_local.app.sessions.entry import Entry, Kind
from gemma_local.app.sessions.session import UNCHANGED, Unchanged
from gemma_local.models.message import Message

Said = Literal["complete", "stopped"]


class Stream(Protocol):
    """An answer that is written down while it comes."""

    def write(self, message: Message) -> None:
        """The whole answer so far."""

    def finish(
        self,
        message: Message,
        *,
        state: Said = "complete",
        finish: str = "",
        report: Mapping[str, Any] | None = None,
    ) -> Entry:
        """The answer is over."""

    def stop(self) -> Entry | None:
        """Keep what there is as stopped; None if there is nothing."""


class Record(Protocol):
    """Keeps the entries of one conversation, in order. Sessions are records."""

    def append(
        self,
        message: Message,
        *,
        kind: Kind = "message",
        info: Mapping[str, Any] | None = None,
    ) -> Entry:
        """Add an entry."""

    def stream(self) -> Stream:
        """Begin an answer."""

    def amend(
        self,
        number: int,
        *,
        stand_in: Message | Unchanged | None = UNCHANGED,
        dropped: bool | Unchanged = UNCHANGED,
    ) -> None:
        """Change what the model reads of an entry."""

    def close(self) -> None:
        """Nothing more will be said."""


class Unsaved:
    """A record that ends with the program."""

    def __init__(self, first_number: int = 1) -> None:
        self._next = first_number

    def append(
        self,
        message: Message,
        *,
        kind: Kind = "message",
        info: Mapping[str, Any] | None = None,
    ) -> Entry:
        return Entry(
            message=message,
            number=self._take_number(),
            at=datetime.now(UTC),
            kind=kind,
            info=info or {},
        )

    def stream(self) -> Stream:
        return _UnsavedStream(self._take_number)

    def amend(
        self,
        number: int,
        *,
        stand_in: Message | Unchanged | None = UNCHANGED,
        dropped: bool | Unchanged = UNCHANGED,
    ) -> None:
        pass

    def close(self) -> None:
        pass

    def _take_number(self) -> int:
        number, self._next = self._next, self._next + 1
        return number


class _UnsavedStream:
    def __init__(self, take_number: Callable[[], int]) -> None:
        self._take_number = take_number
        self._latest: Message | None = None

    def write(self, message: Message) -> None:
        self._latest = message

    def finish(
        self,
        message: Message,
        *,
        state: Said = "complete",
        finish: str = "",
        report: Mapping[str, Any] | None = None,
    ) -> Entry:
        return Entry(
            message=message,
            number=self._take_number(),
            at=datetime.now(UTC),
            state=state,
            finish=finish,
            report=report or {},
        )

    def stop(self) -> Entry | None:
        return None if self._latest is None else self.finish(self._latest, state="stopped")

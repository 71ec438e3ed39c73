"""A session as a conversation's record, which goes on when the disk does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gemma_local.app.record import Said, Stream, Unsaved
from gemma_local.app.sessions.entry import Entry, Kind
from gemma_local.app.sessions.errors import SessionsUnavailable
from gemma_local.app.sessions.session import UNCHANGED, Session, Unchanged
from gemma_local.app.sessions.stream import Stream as SessionStream
from gemma_local.models.message import Message

OnProblem = Callable[[str], None]


class SavedRecord:
    """Writes to a session. What cannot be written is remembered and written, in order, as soon as
    it can be, before anything that comes later; the person hears of it once."""

    def __init__(self, session: Session, last_number: int, on_problem: OnProblem) -> None:
        """``last_number`` is that of the session's last entry, 0 for a new one."""
        self._session = session
        self._on_problem = on_problem
        self._last_number = last_number
        self._unwritten: list[Callable[[], object]] = []
        self._has_complained = False

    @property
    def is_behind(self) -> bool:
        """Whether something waits to be written."""
        return bool(self._unwritten)

    def append(
        self,
        message: Message,
        *,
        kind: Kind = "message",
        info: Mapping[str, Any] | None = None,
    ) -> Entry:
        return self._add(
            lambda: self._session.append(message, kind=kind, info=info),
            lambda memory: memory.append(message, kind=kind, info=info),
        )

    def stream(self) -> Stream:
        # What waits is an entry before this one: written later, it would end this one's stream.
        if self.is_behind:
            return _ForgivingStream(self, None)
        try:
            return _ForgivingStream(self, self._session.stream())
        except SessionsUnavailable as problem:
            self.complain(problem)
            return _ForgivingStream(self, None)

    def amend(
        self,
        number: int,
        *,
        stand_in: Message | Unchanged | None = UNCHANGED,
        dropped: bool | Unchanged = UNCHANGED,
    ) -> None:
        self._write(lambda: self._session.amend(number, stand_in=stand_in, dropped=dropped))

    def close(self) -> None:
        """Write what still waits, if that can be done by now, and give the session back."""
        last: SessionsUnavailable | None = None
        for step in (self._catch_up, self._session.close):
            try:
                step()
            except SessionsUnavailable as problem:
                last = problem
        if last is not None:
            self._on_problem(f"{last}. What was said last is not saved")

    def add_answer(
        self,
        stream: SessionStream | None,
        message: Message,
        state: Said,
        finish: str,
        report: Mapping[str, Any] | None,
    ) -> Entry:
        """The entry of an answer that has ended; ``stream`` is None if nothing of it was written
        while it came."""

        def write() -> Entry:
            if stream is None:
                return self._session.append(message, state=state, finish=finish, report=report)
            return stream.finish(message, state=state, finish=finish, report=report)

        return self._add(
            write,
            lambda memory: memory.stream().finish(
                message, state=state, finish=finish, report=report
            ),
        )

    def complain(self, problem: SessionsUnavailable) -> None:
        """Tell the person what is wrong, unless they know."""
        if not self._has_complained:
            self._has_complained = True
            self._on_problem(f"{problem}. The conversation goes on, but it is not being saved now")

    def _add(self, write: Callable[[], Entry], remember: Callable[[Unsaved], Entry]) -> Entry:
        """The entry that ``write`` adds to the session, now or later; ``remember`` makes the same
        in memory."""
        entry = self._write(write)
        if entry is None:
            entry = remember(Unsaved(self._last_number + 1))
        self._last_number = entry.number
        return entry

    def _write(self, write: Callable[[], Entry | None]) -> Entry | None:
        """What ``write`` returns; None if it has to wait for better times."""
        try:
            self._catch_up()
            return write()
        except SessionsUnavailable as problem:
            self.complain(problem)
            self._unwritten.append(write)
            return None

    def _catch_up(self) -> None:
        """Write what waits. Raises SessionsUnavailable."""
        while self._unwritten:
            self._unwritten[0]()
            self._unwritten.pop(0)


class _ForgivingStream:
    """A stream whose failures are the record's business."""

    def __init__(self, record: SavedRecord, stream: SessionStream | None) -> None:
        """``stream`` None: nothing is written before its end."""
        self._record = record
        self._stream = stream

    def write(self, message: Message) -> None:
        if self._stream is None or self._record.is_behind:
            # What came before it must be written first.
            return
        try:
            self._stream.write(message)
        except SessionsUnavailable as problem:
            self._record.complain(problem)

    def finish(
        self,
        message: Message,
        *,
        state: Said = "complete",
        finish: str = "",
        report: Mapping[str, Any] | None = None,
    ) -> Entry:
        return self._record.add_answer(self._stream, message, state, finish, report)

    def stop(self) -> Entry | None:
        try:
            return self._stream.stop() if self._stream is not None else None
        except SessionsUnavailable as problem:
            self._record.complain(problem)
            return None

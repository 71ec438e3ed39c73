"""What is kept of a conversation: sessions and their entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal

from gemma_local.models.message import Message

Kind = Literal["message", "summary"]
"""A message as it was said, or a summary that stands for the messages before it."""

WRITTEN: Final = "written"
"""A key of ``Entry.info``: what the person wrote, where files and the like were added to it."""

State = Literal["complete", "partial", "stopped"]
"""Said to its end; still being said; or cut short, by the person or by the end of a process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One message of a session, and what became of it.

    ``message`` is what was shown and never changes; ``stand_in`` is what the model reads in its
    place, ``dropped`` that it no longer reads it at all. ``number`` counts from 1 and stays.
    ``finish`` is the reason of the engine's ``Done``, ``report`` its measurements. ``tokens`` is
    the length in the prompt, once counted. ``info`` is the writer's own, in JSON types; on reading,
    ``info["unanswered"]`` is the number of calls at the end of ``message.calls`` that have no
    result.
    """

    message: Message
    number: int
    at: datetime
    kind: Kind = "message"
    state: State = "complete"
    finish: str = ""
    report: Mapping[str, Any] = field(default_factory=dict)
    tokens: int | None = None
    stand_in: Message | None = None
    dropped: bool = False
    info: Mapping[str, Any] = field(default_factory=dict)

    @property
    def written(self) -> str:
        """The message's text as it was written, without what was added to it for the model."""
        return str(self.info.get(WRITTEN, self.message.text))


def first_entries(entries: Sequence[Entry], count: int) -> list[Entry]:
    """The first ``count`` entries as they were read before the later ones came: what a later
    summary stands for is read again."""
    summed_up = {
        number
        for entry in entries[count:]
        if entry.kind == "summary"
        for number in entry.info.get("of", ())
    }
    return [
        replace(entry, dropped=False) if entry.number in summed_up else entry
        for entry in entries[:count]
    ]


def unspoken(entry: Entry) -> Entry:
    """Without what only means something in the vocabulary that it was said in."""
    return replace(entry, message=replace(entry.message, spoken=None), tokens=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """A session without its entries.

    ``folder`` is where it was started. ``model`` is the model's name, ``tokenizer`` the
    fingerprint of its vocabulary (``Ready.tokenizer``). ``messages`` counts entries of that kind.
    A branch has the first ``branch_point`` entries of ``parent``. ``settings`` are in JSON types;
    "system" is the system text. Times are UTC.
    """

    id: str
    title: str
    folder: Path
    model: str
    tokenizer: str
    created: datetime
    updated: datetime
    messages: int = 0
    parent: str | None = None
    branch_point: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Hit:
    """Where something was found: entry ``number`` of a session, 0 for its title.

    ``snippet`` is one line of the text around it.
    """

    session: SessionInfo
    number: int
    role: str
    snippet: str

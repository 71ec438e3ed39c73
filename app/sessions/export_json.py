"""A session as JSON, and back.

One object: ``format`` ("gemma-local session"), ``version`` (1), ``id``, ``title``, ``folder``,
``model``, ``tokenizer``, ``created``, ``updated`` (ISO 8601, UTC), ``settings`` and ``entries``, in
order. An entry has ``at``, ``kind`` ("message", "summary"), ``state`` ("complete", "stopped"),
``finish``, ``tokens``, ``dropped``, ``message``, ``stand_in`` (a message or null), ``report`` and
``info``. A message has ``role``, and of ``text``, ``thought``, ``calls`` (``name``, ``arguments``),
``tool``, ``result`` and ``spoken`` (``tokens``, ``thoughts``, ``opening``) what says something.

All of it comes back, with two exceptions: a new id where that one is taken, and a high and a low
surrogate side by side, which JSON has no way to tell from the character that they spell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

from gemma_local.app.sessions.entry import Entry, Kind, SessionInfo, State
from gemma_local.app.sessions.errors import BadExport
from gemma_local.app.sessions.packing import message_of, plain_message

FORMAT: Final = "gemma-local session"
VERSION: Final = 1

_ESCAPED: Final = re.compile(
    "[\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def as_json(info: SessionInfo, entries: Sequence[Entry]) -> str:
    """The session in the format above."""
    return json_text(
        {
            "format": FORMAT,
            "version": VERSION,
            "id": info.id,
            "title": info.title,
            "folder": str(info.folder),
            "model": info.model,
            "tokenizer": info.tokenizer,
            "created": info.created.isoformat(),
            "updated": info.updated.isoformat(),
            "settings": dict(info.settings),
            "entries": [_plain(entry) for entry in entries],
        }
    )


def read_json(text: str) -> tuple[SessionInfo, list[Entry]]:
    """The session that ``as_json`` wrote; unknown fields are left out. Raises BadExport."""
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadExport(f"this is not JSON ({error})") from error
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise BadExport("this is no session that gemma-local sessions export --format json wrote")
    if plain.get("version") != VERSION:
        raise BadExport(
            f"this session has version {plain.get('version')!r}, and this gemma-local knows "
            f"{VERSION}; read it with the one that wrote it"
        )
    try:
        entries = [_entry(number, entry) for number, entry in enumerate(plain["entries"], start=1)]
        return _info(plain, entries), entries
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise BadExport(f"this session is incomplete or damaged ({error!r})") from error


def json_text(value: object, indent: int | None = 1) -> str:
    """JSON for people and programs: UTF-8, and safe to show on a terminal."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    # Characters like these are in strings only, where they may be escaped.
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _plain(entry: Entry) -> dict[str, Any]:
    return {
        "at": entry.at.isoformat(),
        "kind": entry.kind,
        "state": "stopped" if entry.state == "partial" else entry.state,
        "finish": entry.finish,
        "tokens": entry.tokens,
        "dropped": entry.dropped,
        "message": plain_message(entry.message),
        "stand_in": None if entry.stand_in is None else plain_message(entry.stand_in),
        "report": dict(entry.report),
        "info": {key: value for key, value in entry.info.items() if key != "unanswered"},
    }


def _info(plain: Mapping[str, Any], entries: Sequence[Entry]) -> SessionInfo:
    return SessionInfo(
        id=str(plain.get("id", "")),
        title=str(plain["title"]),
        folder=Path(plain["folder"]),
        model=str(plain["model"]),
        tokenizer=str(plain["tokenizer"]),
        created=_time(plain["created"]),
        updated=_time(plain["updated"]),
        messages=sum(entry.kind == "message" for entry in entries),
        settings=dict(plain["settings"]),
    )


def _entry(number: int, plain: Mapping[str, Any]) -> Entry:
    if plain["kind"] not in ("message", "summary") or plain["state"] not in ("complete", "stopped"):
        raise ValueError(f"entry {number} is of no known kind or state")
    stand_in, tokens = plain.get("stand_in"), plain.get("tokens")
    return Entry(
        message=message_of(plain["message"]),
        number=number,
        at=_time(plain["at"]),
        kind=cast(Kind, plain["kind"]),
        state=cast(State, plain["state"]),
        finish=str(plain.get("finish", "")),
        report=dict(plain.get("report", {})),
        tokens=None if tokens is None else int(tokens),
        stand_in=None if stand_in is None else message_of(stand_in),
        dropped=bool(plain.get("dropped", False)),
        info=dict(plain.get("info", {})),
    )


def _time(text: str) -> datetime:
    """A time of ISO 8601; one without a zone is taken as UTC."""
    at = datetime.fromisoformat(text)
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)

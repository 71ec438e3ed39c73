"""What crosses the process boundary: commands to the engine, events from it.

One JSON object a line (``{"type": "Delta", ...}``), so that a stream can be read with a pager and
a crash of one side cannot corrupt the other's memory. This module must stay light: the client
imports it, and the client must start without llama.cpp or numpy.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Final, TypeAlias

from gemma_local.engine.commands import (
    DRAFT_MAX,
    Cancel,
    Command,
    Count,
    Generate,
    ListDevices,
    Load,
    Read,
    Sampling,
    Save,
    Shutdown,
    Verify,
)
from gemma_local.engine.events import (
    CacheUse,
    Counted,
    Delta,
    Done,
    Event,
    Failed,
    Listed,
    Loading,
    PaceTally,
    Prefill,
    Ready,
    Saved,
    SourceTally,
    Stats,
    Tally,
    Verified,
)
from gemma_local.models.prompt import Control, Ids, Markup, Piece, Prompt, Text

Message: TypeAlias = Command | Event

_TYPES: Final[dict[str, type[Any]]] = {
    cls.__name__: cls
    for cls in (
        *(Load, Generate, Read, Save, Count, ListDevices, Cancel, Verify, Shutdown, Sampling),
        *(Loading, Ready, Prefill, Delta, Stats, Done),
        *(Saved, Counted, Listed, Verified, Failed),
        *(Tally, SourceTally, PaceTally, CacheUse),
        *(Control, Text, Markup, Ids),
    )
}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {"type": type(value).__name__, **fields}
    if isinstance(value, tuple | list):
        # Long runs of ids are all scalars: no need to look at each.
        scalars = not value or isinstance(value[0], int | float | str)
        return list(value) if scalars else [_plain(item) for item in value]
    if isinstance(value, dict):
        return {"type": "dict", "items": [[key, _plain(item)] for key, item in value.items()]}
    return value


def _typed(value: Any) -> Any:
    if isinstance(value, list):
        nested = bool(value) and isinstance(value[0], dict | list)
        return tuple(_typed(item) for item in value) if nested else tuple(value)
    if isinstance(value, dict):
        kind = value.pop("type")
        if kind == "dict":
            return {key: _typed(item) for key, item in value["items"]}
        return _TYPES[kind](**{key: _typed(item) for key, item in value.items()})
    return value


def encode(message: Message) -> bytes:
    """One line of JSON, ending in a newline. Non-ASCII and lone surrogates are escaped."""
    return json.dumps(_plain(message), separators=(",", ":")).encode("ascii") + b"\n"


def decode(line: bytes) -> Message:
    """The message of one line.

    Raises ValueError for anything that ``encode`` did not write.
    """
    try:
        plain = json.loads(line)
        message = _typed(plain) if isinstance(plain, dict) else None
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not an engine message: {line[:80]!r}") from error
    if not isinstance(message, Message):
        raise ValueError(f"not an engine message: {line[:80]!r}")
    return message


__all__ = [
    "DRAFT_MAX",
    "CacheUse",
    "Cancel",
    "Command",
    "Count",
    "Counted",
    "Delta",
    "Done",
    "Event",
    "Failed",
    "Generate",
    "ListDevices",
    "Listed",
    "Load",
    "Loading",
    "Message",
    "PaceTally",
    "Piece",
    "Prefill",
    "Prompt",
    "Read",
    "Ready",
    "Sampling",
    "Save",
    "Saved",
    "Shutdown",
    "SourceTally",
    "Stats",
    "Tally",
    "Verified",
    "Verify",
    "decode",
    "encode",
]

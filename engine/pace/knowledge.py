"""What was learned about pairs on this machine, in a file, so that the next run begins with it.

One JSON object with an entry for each pair and way to run it. Only a convenience: whatever is
wrong with the file, or with writing it, costs no more than learning anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

_FORM: Final = 1
"""Number of the form of the file; another one is not read."""
_KEPT: Final = 24
"""Entries that are kept: those that were written last."""
_LONGEST: Final = 1 << 20
"""Bytes of a file that is read."""


class Knowledge:
    """One entry of a file."""

    def __init__(self, path: Path, key: str) -> None:
        """``key`` is all that costs and chances depend on: pair, cache, threads, llama.cpp."""
        self._path = path
        self._key = hashlib.sha256(key.encode()).hexdigest()[:24]

    def read(self) -> dict[str, Any] | None:
        """What was written last under the same key, None where nothing of use was."""
        learned = self._entries().get(self._key, {}).get("learned")
        return learned if isinstance(learned, dict) else None

    def write(self, learned: dict[str, Any]) -> None:
        """Put it in the place of what was there; the other entries stay. Never raises OSError."""
        entries = self._entries()
        entries.pop(self._key, None)
        # In the order in which they were written.
        while len(entries) >= _KEPT:
            del entries[next(iter(entries))]
        entries[self._key] = {"at": round(time.time()), "learned": learned}
        text = json.dumps({"form": _FORM, "entries": entries}, separators=(",", ":"))
        unfinished = self._path.with_suffix(f".{os.getpid()}.new")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            unfinished.write_text(text, encoding="utf-8")
            unfinished.replace(self._path)
        except OSError:
            with suppress(OSError):
                unfinished.unlink()

    def _entries(self) -> dict[str, dict[str, Any]]:
        try:
            with self._path.open("rb") as file:
                whole = json.loads(file.read(_LONGEST))
        # A deep nest of brackets is no file of ours either.
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(whole, dict) or whole.get("form") != _FORM:
            return {}
        entries = whole.get("entries")
        if not isinstance(entries, dict):
            return {}
        return {key: entry for key, entry in entries.items() if isinstance(entry, dict)}

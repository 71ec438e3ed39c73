"""What was found out about files, kept on disk for as long as the files stay as they were."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

_VERSION: Final = 1


class FileRecord:
    """Values by file, in a JSON file. A value holds while the file's size and time of change do.

    Losing it costs time and nothing else: a record that cannot be read is empty, and one that
    cannot be written is not kept. May be used from several threads.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._values: dict[str, list[Any]] | None = None
        self._unsaved = False

    def get(self, file: Path) -> Any:
        """What was put for ``file``, None if that is nothing or the file was changed since."""
        with self._lock:
            kept = self._load().get(str(file.resolve()))
            if kept is None or len(kept) != 3:
                return None
            return kept[2] if kept[:2] == _stamp(file) else None

    def file_with(self, value: Any) -> Path | None:
        """A file for which ``value`` was put, and which is as it was."""
        with self._lock:
            files = [Path(file) for file, kept in self._load().items() if kept[2:] == [value]]
        return next((file for file in files if self.get(file) == value), None)

    def last(self, file: Path) -> Any:
        """What was put for ``file`` last, also if the file was changed since; None for nothing."""
        with self._lock:
            kept = self._load().get(str(file.resolve()))
        return kept[2] if kept is not None and len(kept) == 3 else None

    def put(self, file: Path, value: Any, *, later: bool = False) -> None:
        """Keep a value that JSON can hold; on the disk at once, or ``later`` with the next `flush`.
        Nothing happens if the file is gone."""
        if (stamp := _stamp(file)) is None:
            return
        with self._lock:
            values = self._load()
            values[str(file.resolve())] = [*stamp, value]
            self._unsaved = True
            if not later:
                self._save(values)

    def flush(self) -> None:
        """Write what was put for later."""
        with self._lock:
            if self._unsaved:
                self._save(self._load())

    def forget(self, file: Path) -> None:
        """Keep nothing more about ``file``."""
        with self._lock:
            values = self._load()
            if values.pop(str(file.resolve()), None) is not None:
                self._save(values)

    def _load(self) -> dict[str, list[Any]]:
        if self._values is None:
            self._values = {}
            with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
                kept = json.loads(self._path.read_text("utf-8"))
                if kept["version"] == _VERSION:
                    self._values = {str(k): list(v) for k, v in kept["files"].items()}
        return self._values

    def _save(self, values: dict[str, list[Any]]) -> None:
        self._unsaved = False
        with suppress(OSError):
            write_json(self._path, {"version": _VERSION, "files": values})


def fingerprint(files: Iterable[Path]) -> str:
    """Changes when one of these files does, or when there are others."""
    stamps = [[str(file), _stamp(file)] for file in files]
    return hashlib.sha256(json.dumps(stamps).encode()).hexdigest()


def write_json(path: Path, content: Any) -> None:
    """Write a JSON file so that a reader sees the old one or the new one. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.partial")
    try:
        beside.write_text(json.dumps(content, indent=1), "utf-8")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _stamp(file: Path) -> list[int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns]

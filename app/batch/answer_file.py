"""Where the answers of a batch go: a line each, in order, never half a one for long."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Final

from gemma_local.app.errors import UsageError
from gemma_local.app.output import write_json
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.given_path import given_path

_BEGINNING: Final = b'{"line": '


class AnswersNotWritten(GemmaLocalError):
    """The answers cannot be written where they should go."""


class AnswerFile:
    """A file of answers, with those that an earlier run left in it, or standard output."""

    def __init__(self, name: str) -> None:
        """``name``: the file, "" for standard output.

        The rest of a line that a run was killed in is cut off. Raises UsageError for a file that
        holds anything else.
        """
        self.name = name
        self._path = given_path(name) if name else None
        self.earlier = self.earlier_errors = 0
        """Lines that were there already, and how many of them tell of errors."""
        self._file: BinaryIO | None = None
        if self._path is not None:
            self._file = self._opened(self._path)

    def _opened(self, path: Path) -> BinaryIO:
        try:
            file = path.open("r+b" if path.exists() else "x+b")
        except OSError as error:
            raise UsageError(
                f"the answers cannot be written to {self.name}: {error.strerror or error}"
            ) from None
        end = 0
        for line in file:
            record = _record_of(line)
            if record is not None:
                self.earlier += 1
                self.earlier_errors += "error" in record
                end += len(line)
            elif not _is_broken_off(line):
                file.close()
                raise UsageError(
                    f"line {self.earlier + 1} of {self.name} is no answer of a batch; name another "
                    "file with -o"
                )
        file.seek(end)
        file.truncate()
        return file

    def digests(self) -> Iterator[str]:
        """Of the questions that an earlier run answered, in order."""
        if self._path is None:
            return
        with self._path.open("rb") as file:
            for _ in range(self.earlier):
                record = _record_of(file.readline()) or {}
                yield str(record.get("digest"))

    def write(self, record: Mapping[str, object]) -> None:
        """Add an answer, whose first key is "line", at once. Raises AnswersNotWritten."""
        if self._file is None:
            write_json(record)
            return
        try:
            line = json.dumps(record, ensure_ascii=False) + "\n"
            # In one piece, so that Ctrl-C leaves all of it to be written.
            self._file.write(line.encode("utf-8", "replace"))
            self._file.flush()
        except OSError as error:
            raise AnswersNotWritten(
                f"the answers cannot be written to {self.name}: {error.strerror or error}; make "
                "room there, then the same command goes on"
            ) from None

    def close(self) -> None:
        """No more answers come."""
        if self._file is not None:
            self._file.close()
        elif sys.stdout is not None:
            sys.stdout.flush()


def _record_of(line: bytes) -> dict[str, object] | None:
    """The answer in a line, None if there is none or half a one."""
    try:
        record = json.loads(line) if line.endswith(b"\n") else None
    except (ValueError, RecursionError):
        return None
    is_answer = isinstance(record, dict) and isinstance(record.get("digest"), str)
    return record if is_answer else None


def _is_broken_off(line: bytes) -> bool:
    """Whether this is the beginning of an answer, after which nothing can come."""
    begins = line.startswith(_BEGINNING) or _BEGINNING.startswith(line)
    return begins and not line.endswith(b"\n")

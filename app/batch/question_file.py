"""The lines of a batch, from a file or a pipe, one by one: there may be millions."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, Final

from gemma_local.app.errors import UsageError
from gemma_local.app.options import BatchOptions
from gemma_local.models.given_path import given_path

PIPE: Final = "-"


@dataclass(frozen=True, slots=True)
class Survey:
    """What can be said about all lines before the model is there. Sizes are bytes of text."""

    lines: int
    longest: int
    mean: int
    most_tokens: int
    """The most that the answer to a line may have, 0 where one has no limit."""


class QuestionFile:
    """Where the questions come from."""

    def __init__(self, options: BatchOptions) -> None:
        self.name = options.file
        self._usual_most = options.max_tokens
        self._system = len((options.system or "").encode("utf-8", "surrogatepass"))

    @contextmanager
    def _open(self) -> Iterator[BinaryIO]:
        if self.name == PIPE:
            if sys.stdin is None or sys.stdin.isatty():
                raise UsageError("- reads the questions from standard input, and nothing comes")
            yield sys.stdin.buffer
            return
        try:
            file = given_path(self.name).open("rb")
        except OSError as error:
            raise UsageError(
                f"the questions in {self.name} cannot be read: {error.strerror or error}"
            ) from None
        with file:
            yield file

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines that are not blank, with their numbers. Raises UsageError."""
        with self._open() as file:
            try:
                for number, line in enumerate(file, start=1):
                    # The mark that some editors begin a file with.
                    text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                    if text.strip():
                        yield number, text
            except OSError as error:
                raise UsageError(f"{self.name} cannot be read: {error.strerror}") from None

    def survey(self) -> Survey | None:
        """Look at all lines; None for a pipe, which can be read only once. Raises UsageError."""
        if self.name == PIPE or not given_path(self.name).is_file():
            return None
        count = longest = total = 0
        most: int | None = None
        for _number, line in self.lines():
            count += 1
            size = len(line) + self._system
            total += size
            longest = max(longest, size)
            own = self._most_of(line)
            most = own if most is None else (max(most, own) if most and own else 0)
        return Survey(count, longest, total // max(count, 1), most or 0)

    def _most_of(self, line: bytes) -> int:
        if b'"max_tokens"' not in line:
            return self._usual_most
        try:
            own = json.loads(line)["max_tokens"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return self._usual_most
        return own if isinstance(own, int) and own > 0 else self._usual_most

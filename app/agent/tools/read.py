"""The tool that reads a file, or lists a folder if it is given one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from gemma_local.app.agent.budget import LINE_SHOWN, shortened
from gemma_local.app.agent.files.reading import data_of, text_in
from gemma_local.app.agent.files.text_file import TextFile, digest_of
from gemma_local.app.agent.files.workspace import Place
from gemma_local.app.agent.tool import Effect, Result, Step
from gemma_local.app.agent.tools.arguments import declared, number_of, text_of
from gemma_local.app.agent.tools.kit import Kit
from gemma_local.app.agent.tools.list import Listed
from gemma_local.app.stop import Stop
from gemma_local.models.message import Tool as Declaration
from gemma_local.models.message import Value

_ROOM_FOR_NOTES: Final = 200


class Read:
    """``read(path, offset, limit)``."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    @property
    def declaration(self) -> Declaration:
        """As the model reads it."""
        return declared(
            "read",
            "Read a text file, lines numbered as 12|text, or list a folder.",
            path=("string", ""),
            offset=("integer?", "first line, from 1"),
            limit=("integer?", f"lines, default {self._kit.budget.read_lines}"),
        )

    def step(self, arguments: Mapping[str, Value]) -> Step:
        """Raises ToolProblem."""
        place = self._kit.workspace.reading(text_of(arguments, "path"))
        if place.path.is_dir():
            return Listed(self._kit, place)
        first = max(1, number_of(arguments, "offset", 1))
        count = max(1, number_of(arguments, "limit", self._kit.budget.read_lines))
        return _Reading(self._kit, place, first, count)


@dataclass(frozen=True, slots=True)
class _Reading:
    kit: Kit
    place: Place
    first: int
    count: int

    @property
    def effect(self) -> Effect:
        """Looking at one file."""
        last = self.first + self.count - 1
        lines = f" {self.first}-{last}" if self.first > 1 else ""
        return Effect(
            "read",
            self.place.shown + lines,
            why=self.place.why,
            rule=self.place.rule("read") if self.place.why else "",
        )

    def carry_out(self, stop: Stop, on_output: Callable[[str], None]) -> Result:
        """Raises ToolProblem."""
        data = data_of(self.kit.workspace, self.place)
        file = text_in(data, self.place)
        count = len(file.lines)
        shown = self.place.shown
        if not count:
            self.kit.seen.saw(self.place.path, digest_of(data), 1, 0, 0)
            return Result(f"{shown} is empty.", "empty")
        if self.first > count:
            return Result(
                f"{shown} has only {_lines(count)}. Read it with an offset up to {count}.",
                f"has only {_lines(count)}",
                ok=False,
            )
        taken = self._taken(file)
        last = self.first + len(taken) - 1
        self._remember(file, digest_of(data), last)
        text = "\n".join(taken)
        if notes := self._notes(file, last):
            text += f"\n[{'; '.join(notes)}]"
        return Result(text, f"lines {self.first}-{last} of {count}" if notes else _lines(count))

    @property
    def _room(self) -> int:
        """Characters for lines."""
        return self.kit.budget.result_characters - _ROOM_FOR_NOTES

    @property
    def _longest(self) -> int:
        """Characters of a line that are shown."""
        return min(LINE_SHOWN, max(self._room - 40, 80))

    def _taken(self, file: TextFile) -> list[str]:
        """The numbered lines that fit; one at least."""
        left = self._room
        taken: list[str] = []
        for number in range(self.first, min(self.first + self.count, len(file.lines) + 1)):
            line = f"{number}|{shortened(file.lines[number - 1], self._longest)}"
            left -= len(line) + 1
            if left < 0 and taken:
                break
            taken.append(line)
        return taken

    def _remember(self, file: TextFile, digest: str, last: int) -> None:
        """What was shown counts as seen, but for lines that were cut."""
        count = len(file.lines)
        begin = self.first
        saw = self.kit.seen.saw
        for number in range(self.first, last + 2):
            if number > last or len(file.lines[number - 1]) > self._longest:
                saw(self.place.path, digest, begin, number - 1, count)
                begin = number + 1

    def _notes(self, file: TextFile, last: int) -> list[str]:
        notes = []
        count = len(file.lines)
        if self.first > 1 or last < count:
            notes.append(f"lines {self.first}-{last} of {count}")
        if last < count:
            notes.append(f"go on with offset={last + 1}")
        if file.note:
            notes.append(file.note)
        return notes


def _lines(count: int) -> str:
    return f"{count:,} line{'s' if count != 1 else ''}"

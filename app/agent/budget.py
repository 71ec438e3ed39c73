"""How much of a window the results of tools may take, and how texts are cut to fit."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final

CHARACTERS_PER_TOKEN: Final = 3
"""Gemma 4 reads Python at 3.8 characters a token, and at 3.1 with a number before each line."""
LINE_SHOWN: Final = 2_000
"""Characters of one line of a file that are read."""
HIT_SHOWN: Final = 500
"""Characters of a line that a search shows."""

_SIZES: Final = (8_192, 32_768, 131_072)
_HEAD_SHARE: Final = 0.4
"""Of a command's output: what went wrong stands at its end."""
_ALIKE_FROM: Final = 3

_ANSI: Final = re.compile(
    # CSI; then OSC, DCS, SOS, PM and APC up to their end; then the escapes of two characters.
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]"
)
_INVISIBLE: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits for a window of ``window`` tokens; between the sizes that are given they grow with
    its logarithm, and below the least with itself."""

    window: int

    @property
    def result_tokens(self) -> int:
        """Tokens of one tool's result."""
        return self._scaled(1_000, 3_000, 8_000)

    @property
    def result_characters(self) -> int:
        """Characters that fit into ``result_tokens``."""
        return self.result_tokens * CHARACTERS_PER_TOKEN

    @property
    def read_lines(self) -> int:
        """Lines of a file that are read if the model does not say how many."""
        return self._scaled(150, 300, 800)

    @property
    def hits(self) -> int:
        """Lines that a search shows."""
        return self._scaled(20, 50, 100)

    @property
    def entries(self) -> int:
        """Files and folders that a list shows."""
        return self._scaled(60, 150, 400)

    @property
    def instructions_tokens(self) -> int:
        """Tokens of a project's own instructions."""
        return self._scaled(500, 1_500, 4_000)

    def _scaled(self, *limits: int) -> int:
        if self.window <= _SIZES[0]:
            return max(1, limits[0] * self.window // _SIZES[0])
        for index in range(len(_SIZES) - 1):
            low, high = _SIZES[index : index + 2]
            if self.window <= high:
                part = math.log(self.window / low) / math.log(high / low)
                return round(limits[index] + part * (limits[index + 1] - limits[index]))
        return limits[-1]


def tidied(text: str) -> str:
    """A command's output as it would be read at the end: without colours and other escapes, each
    line as it was last drawn, and lines that repeat counted."""
    text = _ANSI.sub("", text)
    lines = [_last_drawn(line) for line in text.replace("\r\n", "\n").split("\n")]
    return "\n".join(_counted(lines))


def head_tail(text: str, most: int) -> str:
    """``text`` in at most ``most`` characters, if need be without its middle: two fifths from its
    start and the rest from its end, and a line between them that says how much was left out.

    Cuts at line breaks where they are not far. ``most`` is 200 at least.
    """
    if len(text) <= most:
        return text
    most = max(most, 200)
    room = most - 80
    head_end = int(room * _HEAD_SHARE)
    tail_start = len(text) - (room - head_end)
    head_end = _break_before(text, head_end)
    tail_start = _break_behind(text, tail_start)
    left_out = text[head_end:tail_start]
    lines = left_out.count("\n")
    shown = f"{len(left_out):,} characters" + (f" in {lines:,} lines" if lines > 1 else "")
    head, tail = text[:head_end], text[tail_start:]
    return f"{head.rstrip(chr(10))}\n[... {shown} left out ...]\n{tail}"


def head_of(text: str, most: int) -> str:
    """``text`` in at most ``most`` characters: whole lines from its start, and how much is left."""
    if len(text) <= most:
        return text
    end = _break_before(text, max(0, most - 60))
    rest = text[end:]
    return f"{text[:end].rstrip(chr(10))}\n[... {len(rest):,} more characters left out ...]"


def shortened(line: str, most: int) -> str:
    """A line in ``most`` characters and, if it is longer, how long it is."""
    return line if len(line) <= most else f"{line[:most]} [... {len(line):,} characters]"


def _last_drawn(line: str) -> str:
    """What remains of a line that was drawn over and over, as progress bars do."""
    drawn = line.rstrip("\r").rpartition("\r")[2]
    if "\b" in drawn:
        kept: list[str] = []
        for sign in drawn:
            if sign != "\b":
                kept.append(sign)
            elif kept:
                kept.pop()
        drawn = "".join(kept)
    return _INVISIBLE.sub("", drawn)


def _counted(lines: list[str]) -> list[str]:
    """Three or more equal lines in a row as one with their number."""
    found: list[str] = []
    index = 0
    while index < len(lines):
        end = index + 1
        while end < len(lines) and lines[end] == lines[index]:
            end += 1
        count = end - index
        if count >= _ALIKE_FROM and lines[index].strip():
            found.append(f"{lines[index]} (x {count})")
        elif lines[index].strip():
            found += lines[index:end]
        else:
            found += lines[index : min(end, index + 2)]
        index = end
    return found


def _break_before(text: str, at: int) -> int:
    """The end of a line that is at most a quarter of the way back from ``at``, else ``at``."""
    found = text.rfind("\n", at - at // 4, at)
    return at if found < 0 else found + 1


def _break_behind(text: str, at: int) -> int:
    found = text.find("\n", at, at + (len(text) - at) // 4)
    return at if found < 0 else found + 1

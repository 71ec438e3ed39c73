"""What the tests of lines share: a palette, texts of all kinds, and lines read back."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from gemma_local.app.tui.lines.cells import cells
from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.palette import Palette

PALETTE = Palette.of({}, dark=True, ansi=False)

HARD = "\u0301\u05d0\u05d1\u0628\u0644\u064e\u4f60\u597d\uff0c\u3002\U0001f600\u00e9\u0e01\u0e34"
"""Combining marks, Hebrew, Arabic, Chinese with its signs, an emoji, Thai."""
BAD = "\x1b\x07\x00\x7f\x9b\r\u202e\u2066\u200b\ufeff\ufe0f\u200d\u200c\U000e0041\ud800\u2028"
"""What must not reach a terminal as it is."""

words = st.text(st.sampled_from("abcXYZ-/._ " + HARD), max_size=30)
texts = st.lists(words, max_size=12).map(" ".join)
wild = st.text(st.sampled_from("ab *_`#>-|[]()!~<&;1.\\\n\n\t " + HARD + BAD), max_size=120)
widths = st.integers(20, 120)


def text_bounds(line: Line) -> tuple[int, int]:
    """Where the characters of a line that are no decoration begin and end."""
    start, end = 0, len(line.text)
    while start < end and cells(line.text[:start]) < line.lead:
        start += 1
    while end > start and cells(line.text[end:]) < line.tail:
        end -= 1
    return start, end


def copied(lines: Sequence[Line]) -> str:
    """The text of the lines without decoration, joined as it was before it was broken."""
    parts: list[str] = []
    for line in lines:
        start, end = text_bounds(line)
        parts.append(line.text[start:end] + (line.joint if line.continues else "\n"))
    return "".join(parts).removesuffix("\n")


def painted(lines: Sequence[Line]) -> list[str]:
    """What is on the screen, without blanks at the ends of lines."""
    return [line.text.rstrip() for line in lines]


def styled(lines: Sequence[Line]) -> list[tuple[object, ...]]:
    """All there is to know of the lines, to be compared."""
    return [
        (line.lead, line.tail, line.continues, line.joint, *map(tuple, line.segments))
        for line in lines
    ]

"""One painted line, and what of it is text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rich.segment import Segment


@dataclass(frozen=True)
class Line:
    """Segments from left to right, without a newline, at most as wide as was asked for.

    The first ``lead`` and the last ``tail`` cells are decoration (bullets, bars of quotes, frames),
    which is painted and not copied. ``continues``: the text goes on in the next line without a
    newline in between (``joint`` stands there instead, the blank at which it was broken).
    """

    segments: tuple[Segment, ...]
    lead: int = 0
    tail: int = 0
    continues: bool = False
    joint: str = " "

    @cached_property
    def text(self) -> str:
        """All that is painted."""
        return "".join(segment.text for segment in self.segments)

    @cached_property
    def cells(self) -> int:
        """Width on the screen."""
        return sum(segment.cell_length for segment in self.segments)


EMPTY = Line(())
"""A line with nothing on it."""

"""Lines moved to the right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.segment import Segment

from gemma_local.app.tui.lines.line import Line

INDENT = 2
"""Cells."""


def indented(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines behind ``INDENT`` blanks, which are decoration."""
    blanks = Segment(" " * INDENT)
    for line in lines:
        yield Line(
            (blanks, *line.segments),
            lead=INDENT + line.lead,
            tail=line.tail,
            continues=line.continues,
            joint=line.joint,
        )

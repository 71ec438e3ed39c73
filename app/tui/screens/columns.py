"""Rows in columns, aligned by the cells that their text takes on a screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from gemma_local.app.sessions.titles import one_line
from gemma_local.app.tui.lines.cells import cells, cut

GAP: Final = 2
"""Cells between two columns."""
Tone = Literal["", "muted", "marked"]
"""Like the others; not to be chosen; the one that is in use."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column. One of all grows: it takes the room that the others leave.

    ``rank``: where there is no room for all, the column with the highest goes first; 0 stays.
    """

    title: str
    right: bool = False
    grows: bool = False
    rank: int = 0
    most: int = 24
    """Cells, of a column that does not grow."""
    least: int = 16
    """Cells, of one that does; others are left out for it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row. ``key`` is nobody else's; ``below`` is a second line, such as what was found."""

    key: str
    cells: tuple[str, ...]
    below: str = ""
    tone: Tone = ""

    def has(self, words: Sequence[str]) -> bool:
        """Whether all ``words`` (folded) are in it."""
        text = "\0".join(self.cells).casefold()
        return all(word in text for word in words)


@dataclass(frozen=True, slots=True)
class Layout:
    """Which columns are shown, and how wide."""

    columns: tuple[Column, ...]
    shown: tuple[int, ...]
    widths: tuple[int, ...]
    ellipsis: str

    @property
    def header(self) -> str:
        """The line with the titles."""
        return self.line(tuple(column.title for column in self.columns))

    def line(self, texts: Sequence[str]) -> str:
        """One row's line; as wide as the layout, unless even a single column does not fit."""
        pieces = []
        for index, width in zip(self.shown, self.widths, strict=True):
            text = cut(one_line(texts[index]), width, self.ellipsis)
            filling = " " * (width - cells(text))
            pieces.append(filling + text if self.columns[index].right else text + filling)
        return (" " * GAP).join(pieces)


def lay_out(columns: Sequence[Column], rows: Sequence[Row], width: int, ellipsis: str) -> Layout:
    """How to show ``rows`` in ``width`` cells."""
    widest = [
        max([cells(column.title), *(cells(one_line(row.cells[i])) for row in rows)])
        for i, column in enumerate(columns)
    ]
    wanted = [
        column.least if column.grows else min(most, column.most)
        for column, most in zip(columns, widest, strict=True)
    ]
    shown = list(range(len(columns)))
    while _taken(shown, wanted) > width:
        going = [index for index in shown if columns[index].rank]
        if not going:
            break
        shown.remove(max(going, key=lambda index: columns[index].rank))
    rest = width - _taken(shown, wanted)
    widths = [max(1, wanted[i] + (rest if columns[i].grows else 0)) for i in shown]
    return Layout(tuple(columns), tuple(shown), tuple(widths), ellipsis)


def _taken(shown: Sequence[int], widths: Sequence[int]) -> int:
    return sum(widths[index] for index in shown) + GAP * (len(shown) - 1)

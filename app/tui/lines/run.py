"""Runs: pieces of text in one style, which follow each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from rich.segment import Segment
from rich.style import Style

from gemma_local.app.tui.lines.cells import cells, segments

Run: TypeAlias = tuple[str, Style]


def text_of(runs: Iterable[Run]) -> str:
    """What the runs say."""
    return "".join([text for text, _ in runs])


def width_of(runs: Iterable[Run]) -> int:
    """Their width on the screen."""
    return sum(cells(text) for text, _ in runs)


def parts(runs: Sequence[Run], spans: Iterable[tuple[int, int]]) -> list[list[Run]]:
    """The runs of each of ``spans``, offsets into the whole text that ascend and do not overlap."""
    result: list[list[Run]] = []
    index, begin = 0, 0
    for start, end in spans:
        part: list[Run] = []
        while index < len(runs) and begin + len(runs[index][0]) <= start:
            begin += len(runs[index][0])
            index += 1
        at, place = index, begin
        while at < len(runs) and place < end:
            text, style = runs[at]
            piece = text[max(start - place, 0) : end - place]
            if piece:
                part.append((piece, style))
            place += len(text)
            at += 1
        result.append(part)
    return result


def to_segments(runs: Iterable[Run]) -> list[Segment]:
    """The runs as segments; neighbours of one style become one."""
    result: list[Segment] = []
    text, style = "", None
    for piece, its in runs:
        if its == style:
            text += piece
            continue
        if text and style is not None:
            result += segments(text, style)
        text, style = piece, its
    if text and style is not None:
        result += segments(text, style)
    return result


def on(runs: Iterable[Run], style: Style) -> list[Run]:
    """The runs with ``style`` beneath theirs."""
    return [(text, style + its) for text, its in runs]

"""A style laid over the characters that a part of the source became.

Markdown's parser does not say where in the source a character comes from, but what is painted is
nearly what was written, without some of it. So words are looked up in the source one after the
other, a little ahead of the last one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from rich.segment import Segment
from rich.style import Style

from gemma_local.app.tui.lines.cells import fitting
from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.lines.spans import Spans

_WORD: Final = re.compile(r"\s|[^\s]+")
_BLANK: Final = re.compile(r"[^\w\s]{0,8}\s")
"""The next blank behind signs that are not painted."""
_AHEAD: Final = 400
"""How far ahead a word is looked for: farther than the address of a link is long."""
_NEAR: Final = 8
"""How far ahead a single character of a word is looked for: signs around a part of the word."""


def tint(lines: Sequence[Line], source: str, spans: Spans, style: Style) -> list[Line]:
    """``lines`` of ``source`` with ``style`` over all characters from ``spans``, offsets into it.

    Decoration is left as it is. ``source`` should be one block: where what is painted is not in the
    order of the source, as in a table whose cells are wrapped, some of it goes without.
    """
    if not spans:
        return list(lines)
    drafted = bytearray(len(source))
    for start, end in spans:
        drafted[start:end] = b"\1" * (min(end, len(source)) - start)
    tinted: list[Line] = []
    at = 0
    for line in lines:
        start, end = _text_of(line)
        places, at = _places(line.text[start:end], source, at)
        marks = [place >= 0 and bool(drafted[place]) for place in places]
        tinted.append(_laid_over(line, start, marks, style) if any(marks) else line)
    return tinted


def _text_of(line: Line) -> tuple[int, int]:
    """Where in the line's characters its text begins and ends."""
    text = line.text
    return _index(text, line.lead), len(text) - _index(text[::-1], line.tail)


def _index(text: str, width: int) -> int:
    """How many characters fill the first ``width`` cells."""
    return fitting(text, 0, width)[0] if width else 0


def _places(text: str, source: str, at: int) -> tuple[list[int], int]:
    """Where in ``source``, from ``at`` on, each character of ``text`` comes from (-1: nowhere), and
    where to go on."""
    places: list[int] = []
    for found in _WORD.finditer(text):
        word = found.group()
        if word.isspace():
            # Painted blanks are the source's, or fill up columns; a line end is a blank, too.
            blank = _BLANK.match(source, at)
            places.append(blank.end() - 1 if blank else -1)
            at = blank.end() if blank else at
            continue
        start = source.find(word, at, at + _AHEAD + len(word))
        if start >= 0:
            places += range(start, start + len(word))
            at = start + len(word)
            continue
        for character in word:
            place = source.find(character, at, at + _NEAR)
            places.append(place)
            at = place + 1 if place >= 0 else at
    return places, at


def _laid_over(line: Line, start: int, marks: Sequence[bool], style: Style) -> Line:
    flags = [False] * start + list(marks)
    flags += [False] * (len(line.text) - len(flags))
    segments: list[Segment] = []
    at = 0
    for text, its, _ in line.segments:
        for part, is_marked in _runs(text, flags[at : at + len(text)]):
            segments.append(Segment(part, (its or Style.null()) + style if is_marked else its))
        at += len(text)
    return replace(line, segments=tuple(segments))


def _runs(text: str, flags: Sequence[bool]) -> Iterator[tuple[str, bool]]:
    at = 0
    for is_marked, group in groupby(flags):
        size = sum(1 for _ in group)
        yield text[at : at + size], is_marked
        at += size

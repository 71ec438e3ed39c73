"""Text broken into lines of a width."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from gemma_local.app.tui.lines.cells import cells, fitting
from gemma_local.app.tui.lines.line import EMPTY, Line
from gemma_local.app.tui.lines.run import Run, parts, text_of, to_segments, width_of

_WORD: Final = re.compile(r"[^ ]+")
# Scripts that are written without blanks and may be broken between any two characters. Korean has
# blanks.
_IDEOGRAPHIC: Final = re.compile(
    "[\u2e80-\ua4cf\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff60\U00020000-\U0003fffd]"
)
# Signs that belong to what is before or behind them; by their codes, since many look like others.
_NOT_FIRST: Final = frozenset(
    ",.:;?!)]}%\u2019\u201d\u2026\u3001\u3002\u3005\u3009\u300b\u300d\u300f\u3011\u3015\u3017\u3019"
    "\u3041\u3043\u3045\u3047\u3049\u3063\u3083\u3085\u3087\u30a1\u30a3\u30a5\u30a7\u30a9\u30c3\u30e3\u30e5"
    "\u30e7\u30fb\u30fc\uff01\uff09\uff0c\uff0e\uff1a\uff1b\uff1f\uff3d\uff5d"
)
_NOT_LAST: Final = frozenset(
    "([{\u2018\u201c\u3008\u300a\u300c\u300e\u3010\u3014\u3016\u3018\uff08\uff3b\uff5b"
)
# Within a word that is longer than a line it is best broken behind one of these.
_SEAM: Final = re.compile(r".*[/\\_.,;:?&=+|-]", re.DOTALL)


def wrap(
    runs: Sequence[Run],
    width: int,
    *,
    first: Sequence[Run] = (),
    rest: Sequence[Run] = (),
) -> list[Line]:
    """The runs as lines of at most ``width`` cells, ``first`` and ``rest`` included.

    ``first`` stands before the first line and ``rest`` before all others; both are decoration.
    Lines are broken at blanks (a line's ``joint`` is the blanks it was broken at), between
    ideographs, and where else a word does not fit into a line; at newlines a line ends for good.
    The text must be fit to be painted, see ``shown``. A character that is wider than the room has
    it to itself.
    """
    text = text_of(runs)
    spans: list[tuple[int, int]] = []
    ends: list[bool] = []
    start = 0
    first_lead, rest_lead = width_of(first), width_of(rest)
    for line in text.split("\n"):
        room = width - (rest_lead if spans else first_lead)
        pieces = broken(line, room, width - rest_lead)
        spans += [(start + begin, start + end) for begin, end in pieces]
        ends += [False] * (len(pieces) - 1) + [True]
        start += len(line) + 1
    lines: list[Line] = []
    for index, part in enumerate(parts(runs, spans)):
        before = rest if lines else first
        lead = rest_lead if lines else first_lead
        if not part and not before:
            lines.append(EMPTY)
        elif ends[index]:
            lines.append(Line(tuple(to_segments((*before, *part))), lead=lead))
        else:
            joint = text[spans[index][1] : spans[index + 1][0]]
            painted = tuple(to_segments((*before, *part)))
            lines.append(Line(painted, lead=lead, continues=True, joint=joint))
    return lines


def fold(text: str, width: int, rest: int) -> list[tuple[int, int]]:
    """The parts of ``text``, one line of code, of at most ``width`` cells, and ``rest`` cells after
    the first. Nothing is left out between them; a part ends behind a blank if there is one near its
    end."""
    spans: list[tuple[int, int]] = []
    start = 0
    while True:
        end, _ = fitting(text, start, rest if spans else width)
        if end < len(text):
            blank = text.rfind(" ", start + (end - start) * 2 // 3, end)
            end = blank + 1 if blank > start else end
        spans.append((start, end))
        if end >= len(text):
            return spans
        start = end


def broken(text: str, width: int, rest: int) -> list[tuple[int, int]]:
    """Start and end of the lines of ``text``: ``width`` cells wide, ``rest`` from the second on."""
    if cells(text) <= width:
        return [(0, len(text))]
    spans: list[tuple[int, int]] = []
    start = end = used = 0
    for begin, stop in _pieces(text):
        size = cells(text[begin:stop])
        if used + begin - end + size <= width:
            used += begin - end + size
            end = stop
            continue
        if end > start:
            spans.append((start, end))
            width = rest
        start = begin
        while size > width:
            cut, taken = _cut(text, start, stop, width)
            if cut == stop:
                break
            spans.append((start, cut))
            size -= taken
            start, width = cut, rest
        end, used = stop, size
    spans.append((start, end))
    return spans


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """The parts of ``text`` that are not broken while they fit into a line. Blanks before the first
    and behind the last belong to the text as words do."""
    end = 0
    for found in _WORD.finditer(text):
        begin = found.start()
        if not end and begin:
            yield 0, begin
        end = found.end()
        if _IDEOGRAPHIC.search(found.group()):
            yield from _ideographic(text, begin, end)
        else:
            yield begin, end
    if end < len(text):
        yield end, len(text)


def _ideographic(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    start = begin
    for index in range(begin + 1, end):
        before, character = text[index - 1], text[index]
        apart = _IDEOGRAPHIC.match(before) or _IDEOGRAPHIC.match(character)
        if not apart or character in _NOT_FIRST or before in _NOT_LAST or not cells(character):
            continue
        yield start, index
        start = index
    yield start, end


def _cut(text: str, start: int, stop: int, width: int) -> tuple[int, int]:
    """Where a word that is too long is broken, and the width of what stands before."""
    end, taken = fitting(text, start, width)
    end = min(end, stop)
    seam = _SEAM.match(text, start + (end - start) * 2 // 3, end)
    if seam and cells(text[seam.end()]):
        return seam.end(), cells(text[start : seam.end()])
    return end, taken

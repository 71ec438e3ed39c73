"""Where in a file the lines are that a model wants to change.

Models quote from memory: they drop trailing blanks, shift whole blocks, copy line numbers along.
Each level forgives one kind of slip, from none to many, and the first at which there is exactly one
place is taken. Several places at a level end the search: a looser one would only find more.

Every level takes time in proportion to the file, whatever stands in it; no pattern is built from
what the model wrote.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, Literal, TypeAlias

from gemma_local.app.agent.files.indentation import shifted
from gemma_local.app.agent.files.likeness import most_alike

Level = Literal["exact", "line ends", "line numbers", "indentation", "blanks", "similar"]

_NUMBERED: Final = re.compile(r"[ \t]*(\d{1,7})(?:\||\t|: ?|→)")
_WORD: Final = re.compile(r"\w+|[^\w\s]")
_LETTERS: Final = re.compile(r"\w\w")
_MOST_PLACES: Final = 10
_MOST_TRIED: Final = 2_000_000
"""Characters that are compared word by word."""
_LEAST_SIMILAR: Final = 40
"""Characters, without blanks, of what may be found by likeness: less of it is like too much."""


@dataclass(frozen=True, slots=True)
class Matched:
    """``spans`` are (start, end) in the text, in order and apart; ``texts`` what comes there."""

    spans: tuple[tuple[int, int], ...]
    texts: tuple[str, ...]
    level: Level


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """It could be at several places: the numbers of their first lines, counted from 1, ten at
    most."""

    lines: tuple[int, ...]
    level: Level


@dataclass(frozen=True, slots=True)
class Unmatched:
    """It is nowhere."""


Match: TypeAlias = "Matched | Ambiguous | Unmatched"


def match(text: str, old: str, new: str, *, every: bool = False) -> Match:
    """Where ``old`` is in ``text``, and what ``new`` has to be there.

    All three have "\\n" at the end of lines; ``old`` is not empty. ``every`` takes all places, if
    they are exact.
    """
    if found := _exact(text, old, new, every=every):
        return found
    lines = _Lines(text)
    if found := _by_lines(lines, old, new, "line ends"):
        return found
    if (bare := _without_numbers(old)) is not None:
        bare_new = _without_numbers(new, loosely=True) or new
        for found in (
            _exact(text, bare, bare_new, every=every),
            _by_lines(lines, bare, bare_new, "line ends"),
            _by_lines(lines, bare, bare_new, "indentation"),
        ):
            if isinstance(found, Matched):
                return Matched(found.spans, found.texts, "line numbers")
            if found is not None:
                return Ambiguous(found.lines, "line numbers") if found.lines else Unmatched()
    if found := _by_lines(lines, old, new, "indentation"):
        # Found, but not so that it could be said how deep the new lines belong.
        return Unmatched() if isinstance(found, Ambiguous) and not found.lines else found
    return _by_words(lines, old, new) or _by_likeness(lines, old, new) or Unmatched()


class _Lines:
    """A text and where its lines begin."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.starts = [0, *accumulate(len(line) + 1 for line in self.lines)]

    def number_at(self, place: int) -> int:
        """The line, counted from 0, that ``place`` lies in."""
        return bisect.bisect_right(self.starts, place) - 1

    def span(self, first: int, count: int) -> tuple[int, int]:
        """Whole lines, without the end of the last."""
        end = self.starts[first + count - 1] + len(self.lines[first + count - 1])
        return self.starts[first], end


def _matched(lines: _Lines, span: tuple[int, int], made: list[str], level: Level) -> Matched:
    start, end = span
    if not made and start == lines.starts[lines.number_at(start)]:
        # The lines go, and so does the end of the last of them.
        end += lines.text.startswith("\n", end)
    return Matched(((start, end),), ("\n".join(made),), level)


# ------------------------------------------------------------------------------------- exactly


def _exact(text: str, old: str, new: str, *, every: bool) -> Matched | Ambiguous | None:
    if every:
        starts = list(_apart(text, old))
        if not starts:
            return None
        spans = tuple((start, start + len(old)) for start in starts)
        return Matched(spans, (new,) * len(spans), "exact")
    places: list[int] = []
    at = text.find(old)
    # Also those that overlap: "aa" is twice in "aaa".
    while at >= 0 and len(places) < _MOST_PLACES:
        places.append(at)
        at = text.find(old, at + 1)
    if not places:
        return None
    if len(places) == 1:
        return Matched(((places[0], places[0] + len(old)),), (new,), "exact")
    return Ambiguous(tuple(text.count("\n", 0, place) + 1 for place in places), "exact")


def _apart(text: str, old: str) -> Iterator[int]:
    at = text.find(old)
    while at >= 0:
        yield at
        at = text.find(old, at + len(old))


# ----------------------------------------------------------------------------------- by lines


def _by_lines(
    lines: _Lines, old: str, new: str, level: Literal["line ends", "indentation"]
) -> Matched | Ambiguous | None:
    """Whole lines that are the same but for blanks at their ends, or also at their starts.

    Ambiguous without lines: there is a place, but the depth of the new lines there is open.
    """
    asked, wanted = old.split("\n"), new.split("\n")
    if level == "indentation":
        asked, wanted = _without_blank_edges(asked, wanted)
    elif len(asked) > 1 and not asked[-1] and not wanted[-1]:
        # Both end with a line's end, which is not looked for: the file's last line may have none.
        asked, wanted = asked[:-1], wanted[:-1]
    plain = str.strip if level == "indentation" else str.rstrip
    sought = [plain(line) for line in asked]
    if not any(sought):
        return None
    places = _runs([plain(line) for line in lines.lines], sought)
    if not places:
        return None
    if len(places) > 1:
        return Ambiguous(tuple(place + 1 for place in places), level)
    here = lines.lines[places[0] : places[0] + len(sought)]
    made = shifted(asked, here, wanted)
    if made is None:
        return Ambiguous((), level)
    return _matched(lines, lines.span(places[0], len(sought)), made, level)


def _runs(lines: list[str], sought: list[str]) -> list[int]:
    """Where ``sought`` stands in ``lines``, as many places as are told apart.

    The lines become one text, in which C looks for the other.
    """
    text = "\n" + "\n".join(lines) + "\n"
    wanted = "\n" + "\n".join(sought) + "\n"
    found: list[int] = []
    at, number, counted = text.find(wanted), 0, 0
    while at >= 0 and len(found) < _MOST_PLACES:
        number += text.count("\n", counted, at)
        counted = at
        found.append(number)
        at = text.find(wanted, at + 1)
    return found


def _without_blank_edges(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Without blank lines around ``old``, and without as many around ``new``."""
    front = next((i for i, line in enumerate(old) if line.strip()), 0)
    back = next((i for i, line in enumerate(reversed(old)) if line.strip()), 0)
    new_front = next((i for i, line in enumerate(new) if line.strip()), len(new))
    new_back = next((i for i, line in enumerate(reversed(new)) if line.strip()), len(new))
    old = old[front : len(old) - back]
    if new_front == len(new):
        return old, []
    return old, new[min(front, new_front) : len(new) - min(back, new_back)]


def _without_numbers(text: str, *, loosely: bool = False) -> str | None:
    """``text`` without the line numbers that a file is read with; None if it has none.

    They count up without a gap, unless ``loosely``: then each line may have one.
    """
    bare: list[str] = []
    last: int | None = None
    for line in text.split("\n"):
        found = _NUMBERED.match(line)
        if found is None:
            if line.strip() and not loosely:
                return None
            bare.append(line)
            continue
        number = int(found[1])
        if not loosely and last is not None and number != last + 1:
            return None
        last = number
        bare.append(line[found.end() :])
    return None if last is None else "\n".join(bare)


# ------------------------------------------------------------------------------------ by words


def _by_words(lines: _Lines, old: str, new: str) -> Matched | Ambiguous | None:
    """The same words and signs with other blanks and line ends between them."""
    sought = _WORD.findall(old)
    squeezed = "".join(old.split())
    if not squeezed:
        return None
    chunks = lines.text.split()
    whole = "".join(chunks)
    ends = list(accumulate(map(len, chunks)))
    begins: list[int] = []
    spans: list[tuple[int, int]] = []
    at, left = whole.find(squeezed), _MOST_TRIED // len(squeezed) + 1
    while at >= 0 and left and len(spans) < _MOST_PLACES:
        if not begins:
            begins = [found.start() for found in re.finditer(r"\S+", lines.text)]
        last = at + len(squeezed) - 1
        span = _unsqueezed(at, ends, begins), _unsqueezed(last, ends, begins) + 1
        if _is_by_itself(lines.text, *span) and _WORD.findall(lines.text, *span) == sought:
            spans.append(span)
        left -= 1
        at = whole.find(squeezed, at + 1)
    if len(spans) > 1:
        return Ambiguous(tuple(lines.number_at(start) + 1 for start, _ in spans), "blanks")
    if not spans or at >= 0:
        # Nowhere, or not looked at everywhere.
        return None
    start, end = spans[0]
    first = lines.number_at(start)
    depth = lines.lines[first][: start - lines.starts[first]]
    made = [new.strip()]
    if not depth.strip():
        start = lines.starts[first]
        head = next(line for line in old.split("\n") if line.strip())
        body = new.strip("\n").split("\n") if new.strip() else []
        moved = shifted([head], [depth + head.lstrip()], body)
        if moved is None:
            return None
        made = moved
    return _matched(lines, (start, end), made, "blanks")


def _unsqueezed(at: int, ends: list[int], begins: list[int]) -> int:
    """Where a character of the text without blanks stands in the text."""
    chunk = bisect.bisect_right(ends, at)
    return begins[chunk] + at - (ends[chunk - 1] if chunk else 0)


def _is_by_itself(text: str, start: int, end: int) -> bool:
    """Whether no word goes on beyond the ends."""
    pairs = (text[at - 1 : at + 1] for at in (start, end) if 0 < at < len(text))
    return not any(_LETTERS.fullmatch(pair) for pair in pairs)


# --------------------------------------------------------------------------------- by likeness


def _by_likeness(lines: _Lines, old: str, new: str) -> Matched | Ambiguous | None:
    """Lines that are nine tenths the same, if no others are."""
    asked, wanted = _without_blank_edges(old.split("\n"), new.split("\n"))
    if sum(len(line.strip()) for line in asked) < _LEAST_SIMILAR:
        return None
    places = most_alike(lines.lines, asked)
    if not places:
        return None
    if len(places) > 1:
        return Ambiguous(tuple(place + 1 for place in places), "similar")
    made = shifted(asked, lines.lines[places[0] : places[0] + len(asked)], wanted)
    if made is None:
        return None
    return _matched(lines, lines.span(places[0], len(asked)), made, "similar")

"""Text as it is compared when something is looked for, and where in the text it came from.

Case and accents do not count, as in the search through sessions; nor do the breaks of lines, and
neither the stars and backticks that Markdown is written with and that nobody sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gemma_local.app.sessions.folding import fold
from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.transcript.copying import text_bounds

_UNSEEN: Final = str.maketrans("", "", "*`")


def folded(text: str) -> str:
    """``text`` as it is compared."""
    return " ".join(fold(text).translate(_UNSEEN).split())


def folded_query(text: str) -> str:
    """What is looked for; a blank at its end or beginning counts."""
    core = folded(text)
    if not core:
        return ""
    return " " * text[:1].isspace() + core + " " * text[-1:].isspace()


def painted_hits(lines: Sequence[Line], query: str) -> list[list[tuple[int, int, int]]]:
    """Where ``query``, folded, is in painted lines: for each hit its (line, start, end), one for
    every line that it reaches over, in characters."""
    if query.strip() not in folded("".join(map(_copied, lines))):
        return []
    text, origins = _unwrapped(lines)
    hits, at = [], text.find(query)
    while at >= 0:
        hits.append(_joined(origins[at : at + len(query)]))
        at = text.find(query, at + len(query))
    return hits


def _copied(line: Line) -> str:
    start, end = text_bounds(line)
    return line.text[start:end] + (line.joint if line.continues else "\n")


def _unwrapped(lines: Sequence[Line]) -> tuple[str, list[tuple[int, int]]]:
    """The folded text of lines, and for each character of it the line and the character there."""
    characters: list[str] = []
    origins: list[tuple[int, int]] = []

    def add(text: str, line: int, at: int, origin: tuple[int, int]) -> None:
        for character in fold(text).translate(_UNSEEN):
            if not character.isspace():
                characters.append(character)
            elif characters and characters[-1] != " ":
                characters.append(" ")
            else:
                continue
            origins.append(origin)

    for number, line in enumerate(lines):
        start, end = text_bounds(line)
        for at in range(start, end):
            add(line.text[at], number, at, (number, at))
        add(line.joint if line.continues else "\n", number, end, (number, max(start, end - 1)))
    return "".join(characters), origins


def _joined(origins: Sequence[tuple[int, int]]) -> list[tuple[int, int, int]]:
    spans: list[tuple[int, int, int]] = []
    for line, at in origins:
        if spans and spans[-1][0] == line:
            spans[-1] = (line, spans[-1][1], at + 1)
        else:
            spans.append((line, at, at + 1))
    return spans

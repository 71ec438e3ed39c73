"""Long texts in parts that a model can read at once."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

Count: TypeAlias = Callable[[str], int]
"""How many tokens a text takes."""

_BREAKS: Final = (
    re.compile(r"\n[ \t]*\n\s*"),
    re.compile(r"\n"),
    re.compile(r"(?<=[.!?\u2026])\s+|(?<=[\u3002\uff01\uff1f])"),
    re.compile(r"\s+"),
)
"""Where a text may be cut, the best places first: paragraphs, lines, sentences, words."""


def split(text: str, most: int, count: Count) -> list[str]:
    """``text`` in parts of at most ``most`` tokens each, cut where it hurts least.

    Joined they are the text again. A single character is a part even if it takes more.
    """
    return _split(text, most, count, 0) or [text]


def _split(text: str, most: int, count: Count, level: int) -> list[str]:
    if count(text) <= most or len(text) < 2:
        return [text] if text else []
    if level == len(_BREAKS):
        middle = len(text) // 2
        return [
            *_split(text[:middle], most, count, level),
            *_split(text[middle:], most, count, level),
        ]
    parts: list[str] = []
    tokens = 0
    for piece in _pieces(text, _BREAKS[level]):
        length = count(piece)
        if length > most:
            parts += _split(piece, most, count, level + 1)
            tokens = count(parts[-1])
        elif parts and tokens + length <= most:
            # Together they take no more than apart, a token at the seam aside.
            parts[-1] += piece
            tokens += length
        else:
            parts.append(piece)
            tokens = length
    return parts


def _pieces(text: str, breaks: re.Pattern[str]) -> list[str]:
    """``text`` cut behind each break."""
    pieces, start = [], 0
    for match in breaks.finditer(text):
        if match.end() > start:
            pieces.append(text[start : match.end()])
            start = match.end()
    return [*pieces, text[start:]] if start < len(text) else pieces

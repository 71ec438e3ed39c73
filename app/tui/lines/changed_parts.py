"""Which words of a changed line differ."""

from __future__ import annotations

import difflib
import re
from typing import Final

MOST_WORDS: Final = 120
"""Longer lines are not compared word by word, which takes the square of their words."""
ALIKE: Final = 0.4
"""Lines that have less in common are other lines: marking nearly all of them helps nobody."""

_WORD: Final = re.compile(r"\w+|\s+|.")


def changed_parts(old: str, new: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Starts and ends of what differs in ``old`` and in ``new``; nothing if all of it does."""
    old_words, new_words = _WORD.findall(old), _WORD.findall(new)
    if max(len(old_words), len(new_words)) > MOST_WORDS:
        return [], []
    matcher = difflib.SequenceMatcher(None, old_words, new_words, autojunk=False)
    blocks = matcher.get_matching_blocks()
    same = sum(len(word) for b in blocks for word in old_words[b.a : b.a + b.size] if word.strip())
    inked = max(len("".join(old.split())), len("".join(new.split())), 1)
    if same / inked < ALIKE:
        return [], []
    return (
        _between(old_words, [(block.a, block.size) for block in blocks]),
        _between(new_words, [(block.b, block.size) for block in blocks]),
    )


def _between(words: list[str], same: list[tuple[int, int]]) -> list[tuple[int, int]]:
    offsets = [0]
    for word in words:
        offsets.append(offsets[-1] + len(word))
    parts: list[tuple[int, int]] = []
    at = 0
    for start, size in same:
        if start > at:
            parts.append((offsets[at], offsets[start]))
        at = start + size
    return parts

"""The texts that a tokenizer takes for single tokens, and where a text contains them.

The tokenizer looks for them before anything else, so a person, a file or a tool that spells one
would write a control token. Cut after its first character, none is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

_KEY_LENGTH = 2


class SpecialTexts:
    """A set of texts to look for, all at once and wherever they overlap.

    Texts of a single character cannot be cut and are left out.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = frozenset(text for text in texts if len(text) >= _KEY_LENGTH)
        # Thousands of alternatives in one pattern are slow. Few texts begin alike.
        self._lengths: dict[str, list[int]] = {}
        for text in sorted(self.texts, key=len, reverse=True):
            lengths = self._lengths.setdefault(text[:_KEY_LENGTH], [])
            if len(text) not in lengths:
                lengths.append(len(text))
        keys = "|".join(map(re.escape, sorted(self._lengths)))
        self._key = re.compile(f"(?={keys})") if keys else None
        self._longest = max(map(len, self.texts), default=0)

    def starts(self, text: str) -> Iterator[int]:
        """Every index at which one of the texts begins, in order."""
        return (start for start, _ in self._found(text))

    def spans(self, left: str, right: str) -> bool:
        """Whether one of the texts would run from the end of ``left`` into ``right``."""
        reach = max(0, self._longest - 1)
        tail = left[max(0, len(left) - reach) :]
        border = len(tail)
        return any(start < border < end for start, end in self._found(tail + right[:reach]))

    def last_end(self, text: str) -> int:
        """The index behind the last of the texts in ``text``, 0 if there is none."""
        return max((end for _, end in self._found(text)), default=0)

    def _found(self, text: str) -> Iterator[tuple[int, int]]:
        """Where one of the texts begins, and where the longest one that begins there ends."""
        if self._key is None:
            return
        for match in self._key.finditer(text):
            start = match.start()
            for length in self._lengths[text[start : start + _KEY_LENGTH]]:
                if text[start : start + length] in self.texts:
                    yield start, min(start + length, len(text))
                    break

    def may_touch(self, text: str) -> tuple[bool, bool]:
        """Whether ``text`` begins like the end of one of the texts, and ends like the beginning."""
        beginnings, endings = self._halves
        lengths = range(1, min(len(text) + 1, self._longest))
        return (
            any(text[:n] in endings for n in lengths),
            any(text[len(text) - n :] in beginnings for n in lengths),
        )

    @cached_property
    def _halves(self) -> tuple[frozenset[str], frozenset[str]]:
        cuts = [(text[:n], text[n:]) for text in self.texts for n in range(1, len(text))]
        return frozenset(left for left, _ in cuts), frozenset(right for _, right in cuts)

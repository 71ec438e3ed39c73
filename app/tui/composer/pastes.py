"""Long texts that were pasted, and the short marks that stand for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gemma_local.app.written import Written

MOST_CHARACTERS: Final = 800
MOST_NEWLINES: Final = 2
"""More of either in a paste, and a mark stands for it."""

_WHOLE_CHARACTERS: Final = 8_000
_WHOLE_LINES: Final = 200
"""More of either in a text of which nobody knows what was pasted, and a mark stands for all."""

_MARK: Final = re.compile(r"\[Pasted text #\d+, [\d,]+ (?:lines|characters)\]")


def is_long(text: str) -> bool:
    """Whether a paste is shown as a mark."""
    return len(text) > MOST_CHARACTERS or text.count("\n") > MOST_NEWLINES


class Pastes:
    """The pasted texts by their marks. A mark that is none of ours is text like any other."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def add(self, text: str) -> str:
        """The mark for ``text``."""
        for mark, known in self._texts.items():
            if known == text:
                return mark
        lines = text.count("\n") + (not text.endswith("\n"))
        size = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
        mark = f"[Pasted text #{len(self._texts) + 1}, {size}]"
        self._texts[mark] = text
        return mark

    def forget(self) -> None:
        """None of the marks is in use any more."""
        self._texts.clear()

    def text_of(self, mark: str) -> str:
        """What a mark stands for. Raises KeyError."""
        return self._texts[mark]

    def spans(self, shown: str) -> Iterator[tuple[int, int]]:
        """Where marks stand, as (start, end)."""
        if self._texts and "[Pasted text #" in shown:
            for match in _MARK.finditer(shown):
                if match[0] in self._texts:
                    yield match.span()

    def expand(self, shown: str) -> Written:
        """The whole text of what is shown."""
        parts: list[str] = []
        spans: list[tuple[int, int]] = []
        end = length = 0
        for start, stop in self.spans(shown):
            text = self._texts[shown[start:stop]]
            length += start - end
            parts += (shown[end:start], text)
            spans.append((length, length + len(text)))
            length += len(text)
            end = stop
        return Written("".join((*parts, shown[end:])), tuple(spans))

    def collapse(self, written: Written) -> str:
        """What is shown of a whole text."""
        text, spans = written.text, written.pastes
        if not spans and (len(text) > _WHOLE_CHARACTERS or text.count("\n") >= _WHOLE_LINES):
            spans = ((0, len(text)),)
        parts: list[str] = []
        end = 0
        for start, stop in spans:
            parts += (text[end:start], self.add(text[start:stop]))
            end = stop
        return "".join((*parts, text[end:]))

    def found_in(self, text: str) -> Written:
        """``text``, in which pasted texts may stand in full, with those as pastes."""
        if not self._texts:
            return Written(text)
        longest_first = sorted(self._texts.values(), key=len, reverse=True)
        pattern = re.compile("|".join(map(re.escape, longest_first)))
        return Written(text, tuple(match.span() for match in pattern.finditer(text)))

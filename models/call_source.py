"""The text of a call with its quote tokens, read from left to right."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

QUOTE: Final = '<|"|>'
"""The token that begins and ends a string; as text in a raw call."""

_DRIVE_OR_SHARE: Final = re.compile(r"[A-Za-z]:\\(?!\\)|\\\\[^\\]")
_ESCAPE_OR_QUOTE: Final = re.compile(r'\\.|"', re.DOTALL)
_FOR_JSON: Final = {"\\'": "'", '"': '\\"'}

Place: TypeAlias = tuple[int, int]
"""Segment and offset in it."""


class Source:
    """Segments of text with one quote token between each two of them.

    The quote token is not part of any text, so what a string says can never end it: in a
    well-formed call every second segment is the whole content of a string.
    """

    def __init__(self, segments: Sequence[str]) -> None:
        self._segments = tuple(segments) or ("",)
        self._index = 0
        self.text = self._segments[0]
        self.at = 0

    def peek(self) -> str:
        """The next character, ``QUOTE`` for a quote token, "" at the end."""
        if self.at < len(self.text):
            return self.text[self.at]
        return "" if self.is_last else QUOTE

    @property
    def is_last(self) -> bool:
        """Whether no quote token is left."""
        return self._index + 1 == len(self._segments)

    @property
    def place(self) -> Place:
        return self._index, self.at

    def go(self, place: Place) -> None:
        """Back to an earlier ``place``."""
        self._index, self.at = place
        self.text = self._segments[self._index]

    def skip(self) -> None:
        """Past the character or the quote token that ``peek`` shows."""
        if self.at < len(self.text):
            self.at += 1
        else:
            self.go((self._index + 1, 0))

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match here, inside this segment, and go past it."""
        match = pattern.match(self.text, self.at)
        if match is not None:
            self.at = match.end()
        return match

    def rest_of_segment(self) -> str:
        """All up to the next quote token or the end, and go past it."""
        rest = self.text[self.at :]
        self.at = len(self.text)
        return rest

    def between(self, start: Place, end: Place) -> str:
        """The raw text of a stretch, quote tokens written out."""
        (first, begin), (last, stop) = start, end
        if first == last:
            return self._segments[first][begin:stop]
        middle = self._segments[first + 1 : last]
        return QUOTE.join((self._segments[first][begin:], *middle, self._segments[last][:stop]))


def ends_of(text: str, mark: str, start: int, after: re.Pattern[str]) -> Iterator[tuple[int, bool]]:
    """Places in ``text`` where a string in quotes of the kind ``mark`` may end.

    A quote can end it when ``after`` matches behind it: whoever writes quotes unescaped inside a
    string does not write a comma or a bracket behind each. The flag says whether an odd number of
    backslashes stands before it.
    """
    at = text.find(mark, start)
    while at >= 0:
        if after.match(text, at + len(mark)):
            before = at
            while before > start and text[before - 1] == "\\":
                before -= 1
            yield at, (at - before) % 2 == 1
        at = text.find(mark, at + 1)


def unescaped(text: str, mark: str) -> str:
    """The content of a string written in quotes of JSON or Python instead of quote tokens.

    Backslashes of a Windows path stay, and so do those of anything that no JSON string can have;
    then only the quotes themselves lose theirs.
    """
    if "\\" not in text:
        return text
    if not _DRIVE_OR_SHARE.match(text):
        inner = _ESCAPE_OR_QUOTE.sub(lambda m: _FOR_JSON.get(m[0], m[0]), text)
        try:
            content = str(json.loads(f'"{inner}"', strict=False))
        except ValueError:
            pass
        else:
            # Half of a surrogate pair is no character, and no file takes it.
            return content.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\\" + mark[-1], mark[-1])

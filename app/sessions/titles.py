"""Titles of sessions, from their first message and without asking a model."""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 60
"""Characters of a title."""

UNTITLED: Final = "untitled"

_LOOKED_AT: Final = 4000
_LOOKED_AT_OF_LINE: Final = 400

_CODE: Final = re.compile(r"^ *(?:```|~~~).*?(?:^ *(?:```|~~~) *$|\Z)", re.MULTILINE | re.DOTALL)
_FENCE: Final = re.compile(r"^ *(?:```|~~~).*$", re.MULTILINE)
_LEADING: Final = re.compile(r"^\s*(?:#{1,6}\s+|>\s*|[-*+]\s+|\d{1,3}[.)]\s+)+")
_LINK: Final = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_EMPHASIS: Final = re.compile(r"(\*\*|__|`{1,3})(?=\S)(.+?)(?<=\S)\1")
_PATH: Final = re.compile(
    r"(?<![\w/\\])(?:[A-Za-z]:|~|\.{1,2})?(?:[/\\][^\s/\\:*?\"<>|]+){2,}[/\\]?"
)
# Long enough that "See e.g." is none.
_SENTENCE: Final = re.compile(r".{9,}?[.!?\u2026](?=\s|$)|.{5,}?[\u3002\uff01\uff1f]")
_UNFIT: Final = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+"
)


def one_line(text: str) -> str:
    """``text`` as one line that can be shown anywhere: no control characters, none that turn the
    direction of writing, no lone surrogates."""
    visible = text.encode("utf-8", "replace").decode("utf-8")
    return " ".join(_UNFIT.sub(" ", visible).split())


def title_of(text: str) -> str:
    """A title for a session that begins with the message ``text``; at most 60 characters, never
    empty: its first sentence or line outside code, without markup, long paths cut to their end."""
    beginning = text[:_LOOKED_AT]
    for source in (_CODE.sub("\n", beginning), _FENCE.sub("", beginning)):
        for line in source.splitlines():
            if (title := _plain(line[:_LOOKED_AT_OF_LINE])) and any(map(str.isalnum, title)):
                return clipped(title)
    return clipped(one_line(beginning)) or UNTITLED


def title_given(title: str) -> str:
    """A title that a person chose, as it is kept: one line of at most 60 characters."""
    return clipped(one_line(title)) or UNTITLED


def clipped(title: str, width: int = LONGEST) -> str:
    """At most ``width`` characters, cut between words where there is one late enough."""
    if len(title) <= width:
        return title
    kept = title[: width - 1]
    space = kept.rfind(" ")
    return (kept[:space] if space > width // 2 else kept).rstrip(" ,;:.-") + "…"


def _plain(line: str) -> str:
    line = _LEADING.sub("", line)
    line = _LINK.sub(r"\1", line)
    line = _EMPHASIS.sub(r"\2", line)
    line = _PATH.sub(_end_of_path, one_line(line))
    sentence = _SENTENCE.match(line)
    return sentence[0] if sentence else line


def _end_of_path(match: re.Match[str]) -> str:
    path = match[0]
    parts = re.split(r"[/\\]", path.rstrip("/\\"))
    return path if len(path) <= 24 else parts[-1]

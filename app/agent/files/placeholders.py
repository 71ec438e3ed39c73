"""Lines that stand for code which somebody did not want to write out."""

from __future__ import annotations

import re
from typing import Final

_DOTS: Final = r"(?:\.{3,}|…)"
_COMMENT: Final = r"(?:#+|//+|/\*+|<!--|--|;+|%+|\{/\*|\"\"\"|''')"
_LEFT_OUT: Final = (
    r"(?:rest of|remaining|remainder|existing|unchanged|omitted|as before|same as|stays? the same"
    r"|remains? the same|previous (?:code|lines|content|methods|functions)"
    r"|other (?:code|lines|content|methods|functions|imports|fields|tests|cases)"
    r"|(?:code|methods|functions|content|implementation) (?:here|continues))"
)
_CODE: Final = r"(?:code|file|class|function|method|module|implementation|content|logic|body)s?"
_LINE: Final = re.compile(
    # Dots at the start of a comment; a comment about the rest of the code; dots without a comment.
    rf"(?i)\s*(?:{_COMMENT}\s*[(\[<]?\s*{_DOTS}[^\n]{{0,80}}?\b{_LEFT_OUT}\b"
    rf"|{_COMMENT}\s*(?:the )?(?:rest|remainder) of (?:\w+ ){{0,2}}{_CODE}\b"
    rf"|{_COMMENT}\s*(?:the )?(?:remaining|existing|unchanged|other) {_CODE}\b[^\n]{{0,40}}{_DOTS}"
    rf"|[(\[<]?\s*{_DOTS}\s+\(?(?:the |all )?{_LEFT_OUT}\b[^\n]{{0,60}}$)"
)


def placeholder_in(text: str, known: str = "") -> str | None:
    """The first line of ``text`` that stands for what was left out, and is not a line of ``known``,
    the text that was there; None if there is none."""
    there: set[str] | None = None
    for line in text.split("\n"):
        # Nobody abbreviates in a line that is longer.
        if len(line) > 200 or not _LINE.match(line):
            continue
        if there is None:
            there = {each.strip() for each in known.split("\n")}
        if line.strip() not in there:
            return line.strip()
    return None

"""Text as it is compared when words are looked for.

Folded is: lower case, compatibility forms resolved (NFKD), accents off. So "uber" finds "Über", and
"strasse" finds "Straße", whichever way either was typed.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from itertools import accumulate
from typing import Final

_ACCENTS: Final = range(0x300, 0x370)


def fold(text: str) -> str:
    """``text`` as it is compared. NUL and lone surrogates, which SQLite cannot store or compare,
    become spaces."""
    if text.isascii():
        return text.lower().replace("\0", " ")
    return "".join(map(_fold, text))


def unfolded(text: str, at: int) -> int:
    """The place in ``text`` of the character that makes ``fold(text)[at]``."""
    ends = accumulate(len(_fold(character)) for character in text)
    return next((place for place, end in enumerate(ends) if end > at), len(text))


@lru_cache(maxsize=4096)
def _fold(character: str) -> str:
    if character == "\0" or "\ud800" <= character <= "\udfff":
        return " "
    apart = unicodedata.normalize("NFKD", character.casefold()).casefold()
    return "".join(part for part in apart if ord(part) not in _ACCENTS)

"""What may be painted of text that nobody has checked.

What a model or a command writes can hold escape sequences, characters that turn the direction of a
line round so that code reads differently from what it does, and characters that cannot be seen at
all. They become visible here. What is copied is the source, never this.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from rich.cells import get_character_cell_size

from gemma_local.app.tui.lines.cells import expand_tabs

UNKNOWN: Final = "\ufffd"
MOST_MARKS: Final = 6
"""How many marks a character may carry. Tibetan and Hebrew come to four; piles of them run over
other lines."""

_PICTURES: Final = {
    **{chr(code): chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"},
    "\x7f": "\u2421",
    "\u2028": "\u2424",
    "\u2029": "\u2424",
}
_LINE_END: Final = re.compile(r"\r\n?")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
# Blanks that take no room, directions, filling letters without ink, notes between the lines, and
# what was meant for tagging text: each run of them is one mark.
_HIDDEN: Final = re.compile(
    "[\u00ad\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u202a-\u202e\u2060-\u206f\u3164\ufeff"
    "\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff"
    "\U000e01f0-\U000e0fff]+"
)
# Hints for the direction of what is beside them, and choices among the forms of one character: no
# terminal needs them, and terminals disagree about the width of what follows.
_HINT: Final = re.compile("[\u061c\u200e\u200f\ufe00-\ufe0f\U000e0100-\U000e01ef]+")
_JOINERS: Final = re.compile("[\u200c\u200d]+")
# Terminals draw the tone into the emoji or beside it, and there is no telling which.
_SKIN_TONE: Final = re.compile("[\U0001f3fb-\U0001f3ff]+")
# More than may be there, of what is neither letter nor blank nor among the usual signs; or of the
# parts of Korean syllables that join the one before.
_PILE: Final = re.compile(
    r"(?:(?![\w\s])[^\x00-\u02ff\u2000-\u200b\u200e-\u20cf\u2100-\u2bff]|[\u1160-\u11ff])"
    rf"{{{MOST_MARKS + 1},}}"
)
_SUSPECT: Final = re.compile(
    "|".join(
        pattern.pattern
        for pattern in (_LINE_END, _CONTROL, _HIDDEN, _HINT, _JOINERS, _SKIN_TONE, _PILE)
    )
)


def shown(text: str, *, tab: int = 4, ascii_only: bool = False) -> str:
    """``text`` with everything that a terminal would act upon, or not show, made visible.

    Line ends become newlines, tabs blanks up to the next multiple of ``tab`` cells. Painting the
    result again changes nothing. ``ascii_only``: marks are "?", for terminals without pictures.
    """
    if _SUSPECT.search(text):
        text = _made_visible(text, ascii_only)
    return expand_tabs(text, tab)


def shown_line(text: str, *, tab: int = 4, ascii_only: bool = False) -> str:
    """``text``, which is one line, as ``shown``: all that would end a line is made visible, too."""
    if "\r" in text or "\n" in text:
        for character in "\r\n":
            picture = "?" if ascii_only else chr(0x2400 + ord(character))
            text = text.replace(character, picture)
    return shown(text, tab=tab, ascii_only=ascii_only)


def _made_visible(text: str, ascii_only: bool) -> str:
    unknown = "?" if ascii_only else UNKNOWN

    def picture(found: re.Match[str]) -> str:
        return unknown if ascii_only else _PICTURES.get(found.group(), unknown)

    text = _LINE_END.sub("\n", text)
    text = _HINT.sub("", text)
    text = _HIDDEN.sub(unknown, text)
    text = _CONTROL.sub(picture, text)
    text = _JOINERS.sub(lambda found: _joiner(found, unknown), text)
    text = _SKIN_TONE.sub(lambda found: "" if _after_symbol(found) else unknown, text)
    return _PILE.sub(_thinned, text)


def _joiner(found: re.Match[str], unknown: str) -> str:
    """Joiners belong into words of the scripts that have them and between emoji; there they are
    kept, and here dropped. Anywhere else they only make two words look the same."""
    before = found.string[found.start() - 1 : found.start()]
    if before and (0x0590 <= ord(before) <= 0x1AFF or 0xFB1D <= ord(before) <= 0xFEFC):
        return found.group()[0]
    return "" if _after_symbol(found) else unknown


def _after_symbol(found: re.Match[str]) -> bool:
    before = found.string[found.start() - 1 : found.start()]
    return bool(before) and unicodedata.category(before) in ("So", "Sk")


def _thinned(found: re.Match[str]) -> str:
    kept: list[str] = []
    marks = 0
    for character in found.group():
        marks = 0 if get_character_cell_size(character) else marks + 1
        if marks <= MOST_MARKS:
            kept.append(character)
    return "".join(kept)

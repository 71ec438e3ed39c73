"""The block that is still being written: near to what it will look like, and cheap."""

from __future__ import annotations

import re
from typing import Final

from gemma_local.app.tui.glyphs import Glyphs
from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.lines.markdown import render_document
from gemma_local.app.tui.lines.open_fence import OpenFence
from gemma_local.app.tui.lines.open_list import OpenList
from gemma_local.app.tui.lines.opening import opening_of
from gemma_local.app.tui.lines.parse import References, parse
from gemma_local.app.tui.lines.plain import render_plain
from gemma_local.app.tui.palette import Palette

MOST: Final = 4_000
"""Characters up to which a block is painted as it will be; longer ones are plain until they end.
Painting 1,000 takes about a millisecond."""

_DELIMITER: Final = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")


def render_open(source: str, width: int, palette: Palette, glyphs: Glyphs) -> list[Line]:
    """``source``, which ends within a block, in lines of at most ``width`` cells.

    Code is not coloured yet, and of a table there is one line, since every row can change its
    columns.
    """
    return OpenBlock().lines(source, width, palette, glyphs)


class OpenBlock:
    """Paints one block again and again while it grows; what cannot have changed is kept."""

    def __init__(self) -> None:
        self._fence = OpenFence()
        self._list = OpenList()

    def lines(
        self,
        source: str,
        width: int,
        palette: Palette,
        glyphs: Glyphs,
        *,
        first_code: int = 0,
        references: References | None = None,
    ) -> list[Line]:
        """As ``render_open``; see ``render_markdown`` for the rest."""
        text = _from_first_line(source)
        if not text:
            return []
        opening = opening_of(text.split("\n", 1)[0].rstrip("\r"))
        if opening.fence:
            return self._fence.lines(text, opening, first_code, width, palette, glyphs)
        if rows := _rows(text):
            said = f"table, {rows} row{'s' if rows > 1 else ''} so far"
            return render_plain(said, width, palette.muted)
        if len(text) <= MOST:
            document = parse(text, references)
            return render_document(
                document, text, width, palette, glyphs, first_code=first_code, coloured=False
            )
        if opening.mark:
            return self._list.lines(text, opening, first_code, references, width, palette, glyphs)
        return render_plain(text.rstrip(), width, palette.text)


def _from_first_line(source: str) -> str:
    """Without the blank lines before."""
    blank = len(source) - len(source.lstrip(" \t\r\n"))
    start = max(source.rfind(end, 0, blank) for end in "\r\n") + 1
    return source[start:] if blank < len(source) else ""


def _rows(text: str) -> int:
    """The rows so far, of a table; 0 for anything else."""
    lines = text.split("\n", 2)
    begins = lines[0].lstrip(" ").startswith("|")
    if len(lines) < 2 or (len(lines) == 2 and not lines[1].strip()):
        # Whether it is one will be clear in the next line. It nearly always is.
        return 1 if begins else 0
    is_table = "|" in lines[0] and "-" in lines[1]
    if not (is_table and _DELIMITER.fullmatch(lines[1].rstrip("\r"))):
        return 1 if begins and len(lines) == 2 and not lines[1].strip(" |:-\r") else 0
    body = lines[2].rstrip() if len(lines) > 2 else ""
    return max(body.count("\n") + 1 if body else 0, 1)

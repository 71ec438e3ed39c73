"""A block of code whose end has not come yet."""

from __future__ import annotations

import re
from typing import Final

from gemma_local.app.tui.glyphs import UNICODE, Glyphs
from gemma_local.app.tui.lines.code import code_label, code_line
from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.lines.opening import Opening
from gemma_local.app.tui.lines.shown import shown_line
from gemma_local.app.tui.palette import Palette

_LINE_END: Final = re.compile(r"\r\n?|\n")


class OpenFence:
    """Paints it without colours, and lines that are complete only once."""

    def __init__(self) -> None:
        self._look: tuple[int, Palette, Glyphs] | None = None
        self._painted = ""
        self._lines: list[Line] = []

    def lines(
        self,
        text: str,
        opening: Opening,
        index: int,
        width: int,
        palette: Palette,
        glyphs: Glyphs,
    ) -> list[Line]:
        """``text`` begins with the fence; ``index`` is for the label, see ``render_code``."""
        look = (width, palette, glyphs)
        # The second of a pair of characters that end a line may not have come.
        complete = max(text.rfind("\n"), text.rfind("\r", 0, len(text) - 1)) + 1
        if self._look != look or not self._painted or not text.startswith(self._painted):
            self._look = look
            language = opening.info.split()[0] if opening.info else ""
            self._lines = [code_label(language, index, width, palette, glyphs)]
            first = _LINE_END.search(text, 0, complete)
            self._painted = text[: first.end()] if first else ""
            if not first:
                return self._lines
        for line in _LINE_END.split(text[len(self._painted) : complete])[:-1]:
            self._lines += self._line(line, opening)
        self._painted = text[:complete]
        last = text[complete:].rstrip("\r")
        is_end_begun = last.strip(" ") == opening.fence[0] * len(last.strip(" "))
        return [*self._lines, *([] if is_end_begun else self._line(last, opening))]

    def _line(self, line: str, opening: Opening) -> list[Line]:
        if self._look is None:
            return []
        width, palette, glyphs = self._look
        blanks = len(line) - len(line.lstrip(" "))
        line = line[min(blanks, opening.indent) :]
        text = shown_line(line, ascii_only=glyphs is not UNICODE)
        return code_line([(text, palette.code_block)], width, palette.code_block, palette, glyphs)

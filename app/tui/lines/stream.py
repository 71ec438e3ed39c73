"""Markdown that grows: what can no longer change, and what still can.

CommonMark decides about blocks line by line and never goes back to one that it has closed. So of
the complete lines read so far every block but the last one is final, and the last one is, too, if
it is of a kind that a blank line ends. The last block is read again only when a line has come that
may begin the next one, and ever less often the longer it grows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from gemma_local.app.tui.glyphs import Glyphs
from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.lines.markdown import gap, render_markdown
from gemma_local.app.tui.lines.open_block import OpenBlock, render_open
from gemma_local.app.tui.lines.opening import Opening, opening_of
from gemma_local.app.tui.lines.parse import Node, References, all_nodes, is_code, parse
from gemma_local.app.tui.lines.spans import Spans
from gemma_local.app.tui.palette import Palette

__all__ = ["Block", "MarkdownStream", "render_open"]

# A carriage return at the very end may be half of a line end.
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\n|\r(?!\n|\Z))")
_LINE_END: Final = re.compile(r"\r\n?|\n")
_ENDED_AT_ONCE: Final = frozenset({"heading", "hr"})
_ENDED_BY_BLANK: Final = frozenset({"paragraph", "heading", "hr", "table", "blockquote"})
_SLACK: Final = 120
"""Characters: short texts are read whenever a block may have ended."""


@dataclass(frozen=True, slots=True)
class Block:
    """A part of an answer that will not change any more: one block, or a few.

    ``start`` is where ``source`` begins in the whole. ``is_first``: nothing is painted before it.
    ``first_code`` is the index of its first block of code, ``references`` the addresses of links
    that were defined before it.
    """

    source: str
    start: int
    is_first: bool
    first_code: int
    references: References

    def lines(self, width: int, palette: Palette, glyphs: Glyphs) -> list[Line]:
        """It as lines, with the empty line that parts it from what is before. All blocks' lines
        together are those of the whole, but for links that are defined in a later block."""
        painted = render_markdown(
            self.source,
            width,
            palette,
            glyphs,
            first_code=self.first_code,
            references=self.references,
        )
        return gap(painted, self.is_first)


class MarkdownStream:
    """Text that comes in pieces."""

    def __init__(self) -> None:
        self.closed: list[Block] = []
        self._length = 0
        self._open = ""
        self._complete = 0
        """How much of the open text is complete lines that have been looked at."""
        self._tried = 0
        """How much of it was there when it was last read without anything being closed."""
        self._opening: Opening | None = None
        """What the open text begins with; None while it is blank."""
        self._before = ""
        """The line that was looked at last."""
        self._is_first = True
        self._codes = 0
        self._references: References = {}
        self._drafted: list[tuple[int, int]] = []
        self._view = OpenBlock()

    @property
    def open(self) -> str:
        """The text behind the closed blocks."""
        return self._open

    @property
    def open_start(self) -> int:
        """Where the open text begins in the whole."""
        return self._length - len(self._open)

    @property
    def drafted(self) -> Spans:
        """Which of all the text came from accepted drafts."""
        return self._drafted

    def feed(self, text: str, drafted: bool = False) -> None:
        """The next piece of text, and whether it came from an accepted draft."""
        if drafted and text:
            start = self._length
            if self._drafted and self._drafted[-1][1] == start:
                start, _ = self._drafted.pop()
            self._drafted.append((start, self._length + len(text)))
        ends_line = "\n" in text or "\r" in text or self._open.endswith("\r")
        self._open += text
        self._length += len(text)
        while ends_line and (found := _LINE.match(self._open, self._complete)):
            self._complete = found.end()
            self._line(found.group().rstrip("\r\n"))

    def finish(self) -> None:
        """There is no more: all text is closed."""
        if self._open:
            self._close(parse(self._open, self._references).blocks, [0, len(self._open)])

    def open_lines(self, width: int, palette: Palette, glyphs: Glyphs) -> list[Line]:
        """The open text as it looks for the time being, see ``render_open``; with the empty line
        that parts it from the closed blocks. What has not changed since the last call is kept."""
        painted = self._view.lines(
            self._open,
            width,
            palette,
            glyphs,
            first_code=self._codes,
            references=self._references,
        )
        return gap(painted, self._is_first)

    def _line(self, line: str) -> None:
        """Look at a line that has become complete."""
        if self._opening is None:
            self._opening = opening_of(line) if line.strip(" \t") else None
            may_end = self._opening is not None and not self._opening.fence
        elif self._opening.fence:
            may_end = self._opening.is_ended_by(line)
        else:
            may_end = self._opening.may_end_before(line, self._before)
            self._opening = self._opening.after(line)
        self._before = line
        if may_end and (self._ends_by_blank(line) or self._complete >= self._due):
            self._read()

    def _ends_by_blank(self, line: str) -> bool:
        is_blank = not line.strip(" \t")
        return is_blank and self._opening is not None and not self._opening.may_hold_blanks

    @property
    def _due(self) -> float:
        """How long the open text has to be to be worth reading again: a quarter longer than when
        that was in vain, so that the work stays in proportion to the text."""
        return self._tried * 1.25 - _SLACK

    def _read(self) -> None:
        """Close what is final of the complete lines."""
        complete = self._open[: self._complete]
        document = parse(complete, self._references)
        blocks = document.blocks
        ends = [0, *(found.end() for found in _LINE_END.finditer(complete))]
        cuts = [0, *(ends[block.token.map[0]] for block in blocks[1:] if block.token.map)]
        if self._is_final(blocks, len(ends) - 1):
            cuts.append(self._complete)
        else:
            blocks = blocks[:-1]
        if not blocks:
            self._tried = self._complete
            return
        references = document.references
        if len(references) > len(self._references) and cuts[-1] < self._complete:
            # The definitions of the block that is still open may not be whole.
            references = parse(complete[: cuts[-1]], self._references).references
        self._references = references
        self._close(blocks, cuts)

    def _is_final(self, blocks: list[Node], lines: int) -> bool:
        """Whether no line to come can change the last of the blocks of so many lines."""
        last = blocks[-1] if blocks else None
        if last is None or last.token.map is None:
            return False
        if self._opening is not None and self._opening.fence:
            return True
        # A definition of a link is no block, and its title may come in the next line.
        reaches_end = last.token.map[1] == lines
        at_once = reaches_end and last.type in _ENDED_AT_ONCE
        return at_once or (not self._before.strip(" \t") and last.type in _ENDED_BY_BLANK)

    def _close(self, blocks: list[Node], cuts: list[int]) -> None:
        """Close the text between ``cuts``, which is ``blocks``, and look at the rest afresh."""
        start = self.open_start
        for index, (begin, end) in enumerate(pairwise(cuts)):
            source = self._open[begin:end]
            self.closed.append(
                Block(source, start + begin, self._is_first, self._codes, self._references)
            )
            of_it = blocks if len(cuts) == 2 else blocks[index : index + 1]
            self._codes += sum(map(is_code, all_nodes(of_it)))
            self._is_first = self._is_first and not of_it
        self._open = self._open[cuts[-1] :]
        self._complete = self._tried = 0
        self._opening = None
        self._before = ""
        self._view = OpenBlock()

"""What the person said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.style import Style

from gemma_local.app.counted import counted
from gemma_local.app.tui.lines.line import EMPTY, Line
from gemma_local.app.tui.lines.plain import render_plain
from gemma_local.app.tui.transcript.excerpt import excerpt
from gemma_local.app.tui.transcript.item import TOGGLES, Item, Passage, rows_of
from gemma_local.app.tui.transcript.look import Look
from gemma_local.app.tui.transcript.one_line import one_line

_SHOW, _MOST = 8, 14
"""Lines of a long text that are shown, and lines from which on a text is long."""
_SHOW_OF_FILE, _MOST_OF_FILE = 2, 4


class PersonItem(Item):
    """A message of the person. What is long in it, and what came from files, is folded to its
    beginning until the item is toggled.

    ``files`` are the parts of ``text`` that came from files, as (start, end). ``written`` is what
    the person wrote where more was added to it: then that is shown, and how much was added.
    """

    def __init__(
        self,
        text: str,
        files: Sequence[tuple[int, int]] = (),
        *,
        written: str = "",
        entry: int | None = None,
    ) -> None:
        super().__init__(entry=entry)
        self.text = text
        self._files = tuple(files)
        self._written = written if written != text else ""
        self._is_open = False
        self._is_folded = False

    def mark(self, look: Look) -> tuple[str, Style]:
        return look.glyphs.person, look.palette.person

    def toggle(self) -> bool:
        if not self._is_open and not self._is_folded:
            return False
        self._is_open = not self._is_open
        self._change()
        return True

    def plain(self) -> str:
        return self._written or self.text

    def passages(self) -> Sequence[Passage]:
        if self._written and not self._is_open:
            return Passage(self._written), Passage(self.text, is_folded=True)
        # What is shown of a folded text is found in it once more when it opens.
        return (Passage(self.text, is_folded=self._is_folded and not self._is_open),)

    def estimate(self, width: int) -> int:
        if self._is_open:
            return rows_of(self.text, width)
        if self._written:
            return min(rows_of(self._written, width), _MOST) + 1
        return sum(
            min(rows_of(part, width), _MOST_OF_FILE if is_file else _MOST)
            for part, is_file in self._parts()
        )

    def _paint(self, width: int, look: Look) -> Sequence[Line]:
        palette, glyphs = look.palette, look.glyphs
        lines: list[Line] = []
        is_folded = bool(self._written)
        for part, is_file in self._shown():
            style = palette.muted if is_file else palette.person
            show, most = (_SHOW_OF_FILE, _MOST_OF_FILE) if is_file else (_SHOW, _MOST)
            piece = excerpt(part.strip("\n"), width, show=show, most=most)
            is_folded |= bool(piece.rest)
            if lines:
                lines.append(EMPTY)
            bar = [(f"{glyphs.quote} ", palette.faint)] if is_file and width > 8 else []
            text = part.strip("\n") if self._is_open else piece.head
            lines += render_plain(text, width, style, first=bar, rest=bar)
            if piece.rest and not self._is_open:
                more = f"{glyphs.closed} {piece.rest}"
                lines.append(_label(more, width, look))
        if self._written and not self._is_open:
            added = sum(self.text.count("\n", start, end) for start, end in self._files)
            more = f"{glyphs.closed} {counted(max(1, added), 'line')} added"
            lines.append(_label(more, width, look))
        if is_folded and self._is_open:
            lines.append(_label(f"{glyphs.open} show less", width, look))
        self._is_folded = is_folded
        return lines

    def _shown(self) -> Iterator[tuple[str, bool]]:
        if self._written and not self._is_open:
            return iter([(self._written, False)])
        return self._parts()

    def _parts(self) -> Iterator[tuple[str, bool]]:
        at = 0
        for start, end in self._files:
            if self.text[at:start].strip():
                yield self.text[at:start], False
            if self.text[start:end].strip():
                yield self.text[start:end], True
            at = end
        if self.text[at:].strip():
            yield self.text[at:], False


def _label(text: str, width: int, look: Look) -> Line:
    line = one_line([(text, look.palette.muted + TOGGLES)], width, look.glyphs.ellipsis)
    return Line(line.segments, lead=line.cells)

"""The Markdown of an answer, painted block by block while it comes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.lines.markdown import CodeBlock, code_blocks
from gemma_local.app.tui.lines.spans import cut_spans
from gemma_local.app.tui.lines.stream import MarkdownStream
from gemma_local.app.tui.lines.tint import tint
from gemma_local.app.tui.transcript.look import Look


@dataclass(slots=True)
class _Painted:
    """The lines of the first so many closed blocks, in one width and look."""

    width: int
    look: Look
    blocks: int = 0
    lines: list[Line] = field(default_factory=list)


class AnswerText:
    """Text that grows. A block of it that cannot change any more is painted once; only the last
    one, which can, is painted again whenever more comes."""

    def __init__(self) -> None:
        self._stream = MarkdownStream()
        self._pieces: list[str] = []
        self._painted: _Painted | None = None

    def __bool__(self) -> bool:
        return bool(self._pieces)

    @property
    def text(self) -> str:
        """All of it."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def feed(self, text: str, *, drafted: bool = False) -> None:
        """More of it; ``drafted``: the drafter proposed it and the target accepted."""
        if text:
            self._pieces.append(text)
            self._stream.feed(text, drafted)

    def finish(self) -> None:
        """That was all; what is open closes as it is."""
        self._stream.finish()

    def forget(self) -> None:
        """Give the memory of the painted lines back."""
        self._painted = None

    def code(self) -> Sequence[CodeBlock]:
        """Its blocks of code, in the order in which their labels count them."""
        return code_blocks(self.text)

    def lines(self, width: int, look: Look) -> list[Line]:
        """It as it looks so far."""
        stream, painted = self._stream, self._painted
        if painted is None or (painted.width, painted.look) != (width, look):
            painted = self._painted = _Painted(width, look)
        for block in stream.closed[painted.blocks :]:
            lines = block.lines(width, look.palette, look.glyphs)
            painted.lines += self._tinted(lines, block.source, block.start, look)
        painted.blocks = len(stream.closed)
        rest = stream.open_lines(width, look.palette, look.glyphs) if stream.open.strip() else []
        return [*painted.lines, *self._tinted(rest, stream.open, stream.open_start, look)]

    def _tinted(self, lines: list[Line], source: str, start: int, look: Look) -> list[Line]:
        if not look.tint:
            return lines
        spans = cut_spans(self._stream.drafted, start, start + len(source))
        return tint(lines, source, spans, look.palette.accepted) if spans else lines

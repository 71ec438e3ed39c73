"""What stands before the lines of a block: bullets, and the bars of quotes."""

from __future__ import annotations

from gemma_local.app.tui.lines.line import EMPTY, Line
from gemma_local.app.tui.lines.run import Run, to_segments, width_of


class Frame:
    """The decoration of a list item or quote, within that of what it is in."""

    def __init__(
        self,
        width: int,
        parent: Frame | None = None,
        first: Run | None = None,
        rest: Run | None = None,
    ) -> None:
        """``first`` stands before the first line, and ``rest``, just as wide, before the others;
        ``width`` is that of the whole line."""
        self.width = width
        self._parent = parent
        self._first, self._rest = first, rest

    def inside(self, first: Run, rest: Run) -> Frame:
        """One more within this one."""
        return Frame(self.width, self, first, rest)

    @property
    def room(self) -> int:
        """How many cells are left for text."""
        return self.width - width_of(self._fitting(self._others()))

    def lead(self) -> tuple[Run, ...]:
        """What stands before the next line."""
        return self._fitting(self._next())

    def blank(self) -> Line:
        """A line without text."""
        pieces = self._fitting(self._others())
        while pieces and not pieces[-1][0].strip():
            pieces = pieces[:-1]
        return Line(tuple(to_segments(pieces)), lead=width_of(pieces)) if pieces else EMPTY

    def _next(self) -> tuple[Run, ...]:
        before = self._parent._next() if self._parent is not None else ()
        piece = self._first
        self._first = None
        piece = piece or self._rest
        return (*before, piece) if piece is not None else before

    def _others(self) -> tuple[Run, ...]:
        before = self._parent._others() if self._parent is not None else ()
        return (*before, self._rest) if self._rest is not None else before

    def _fitting(self, pieces: tuple[Run, ...]) -> tuple[Run, ...]:
        """Without the outermost, where they would leave too little room for the text."""
        most = max(self.width - 10, self.width // 2)
        while width_of(pieces) > most:
            pieces = pieces[1:]
        return pieces

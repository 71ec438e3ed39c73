"""What the model thought before it answered: one quiet line, or all of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rich.style import Style

from gemma_local.app.counted import counted
from gemma_local.app.durations import duration
from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.lines.plain import render_plain
from gemma_local.app.tui.lines.run import width_of
from gemma_local.app.tui.transcript.item import TOGGLES, rows_of
from gemma_local.app.tui.transcript.look import Look
from gemma_local.app.tui.transcript.one_line import last_of, one_line

_LEAST_BESIDE: Final = 12
"""Cells below which the thought's last line is not shown beside its length."""


class Thought:
    """Text that comes piece by piece, and how long that took; ``seconds`` is None if nobody knows,
    as with one that was kept."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began: float | None = None
        self._pieces: list[str] = []
        self.tokens = 0
        self.seconds: float | None = None
        self.is_over = True

    def __bool__(self) -> bool:
        return bool(self._pieces)

    @property
    def text(self) -> str:
        """All of it."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def feed(self, text: str, tokens: int) -> None:
        """More of it."""
        if self._began is None:
            self._began, self.is_over = self._clock(), False
        self._pieces.append(text)
        self.tokens += tokens

    def keep(self, text: str, tokens: int, seconds: float | None) -> None:
        """It is one from before."""
        self._pieces, self.tokens, self.seconds = [text] if text else [], tokens, seconds

    def end(self) -> None:
        """The answer begins, or there is none."""
        if not self.is_over and self._began is not None:
            self.seconds, self.is_over = self._clock() - self._began, True

    def mark(self, look: Look, *, is_open: bool) -> tuple[str, Style]:
        """What stands in the gutter before it."""
        glyphs = look.glyphs
        return glyphs.open if is_open else glyphs.closed, look.palette.muted + TOGGLES

    def lines(self, width: int, look: Look, *, is_open: bool) -> list[Line]:
        """Its one line, and below it all of the text if it is open."""
        palette, glyphs = look.palette, look.glyphs
        runs = [(self.label(), palette.muted + TOGGLES)]
        beside = width - width_of(runs) - 2
        if not self.is_over and not is_open and beside >= _LEAST_BESIDE:
            last = self._last_line(beside)
            runs.append((f"  {last_of(last, beside, glyphs.ellipsis)}", palette.faint + TOGGLES))
        head = one_line(runs, width, glyphs.ellipsis)
        if not is_open:
            return [head]
        bar = [(f"{glyphs.quote} ", palette.faint)] if width > _LEAST_BESIDE else []
        return [
            head,
            *render_plain(self.text.strip("\n"), width, palette.muted, first=bar, rest=bar),
        ]

    def label(self) -> str:
        """Its length in words."""
        length = counted(self.tokens, "token") if self.tokens else ""
        if not self.is_over and self._began is not None:
            took = duration(self._clock() - self._began, tenths_below=1)
            return f"Thinking {took}, {length}".rstrip(", ")
        if self.seconds is None:
            return f"Thought, {length}".rstrip(", ")
        took = duration(self.seconds, tenths_below=1)
        return f"Thought for {took}, {length}".rstrip(", ")

    def estimate(self, width: int, *, is_open: bool) -> int:
        """About how many lines."""
        return 1 + (rows_of(self.text, width - 2) if is_open else 0)

    def _last_line(self, width: int) -> str:
        # A few characters more than fit: a thought can be long, and this is asked for often.
        text, pieces = "", list(self._pieces)
        while pieces and len(text) < 2 * width:
            text = pieces.pop()[-4 * width :] + text
        return next((line for line in reversed(text.splitlines()) if line.strip()), "").strip()

"""Attempts while they are made, a line each, and how they came out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.style import Style

from gemma_local.app.counted import counted
from gemma_local.app.durations import duration
from gemma_local.app.tui.lines.line import EMPTY, Line
from gemma_local.app.tui.lines.plain import render_plain
from gemma_local.app.tui.transcript.item import Item
from gemma_local.app.tui.transcript.look import Look
from gemma_local.app.tui.transcript.one_line import one_line

if TYPE_CHECKING:
    from gemma_local.app.best.contest import Result
    from gemma_local.app.best.standing import Standing
    from gemma_local.app.best.wish import Wish

_QUIET = ("waiting", "stopped")


class ContestItem(Item):
    """A line that says what is attempted, and below it how each attempt stands; at the end a table
    with the best first."""

    def __init__(self, wish: Wish, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._wish = wish
        self._clock = clock
        self._began = clock()
        self._frame = 0
        self._standings: dict[int, Standing] = {}
        self._table = self._rest = ""
        self._is_live = True

    # ----------------------------------------------------------------------------------- growing

    def stands(self, standing: Standing) -> None:
        """An attempt is further."""
        self._standings[standing.number] = standing
        self._change()

    def finish(self, result: Result | None, note: str) -> None:
        """All of them are over; without a result ``note`` says why."""
        from gemma_local.app.best.words import failures, headline, overview, speed_line

        self._is_live, self._rest = False, note
        if result is not None:
            self._table = overview(result)
            said = [] if result.passing else [failures(result)]
            self._rest = "\n\n".join([*said, f"{headline(result)}; {speed_line(result)}"])
        self._change()

    # --------------------------------------------------------------------------------------- item

    def mark(self, look: Look) -> tuple[str, Style]:
        glyphs, palette = look.glyphs, look.palette
        if self._is_live:
            return glyphs.spinner[self._frame % len(glyphs.spinner)], palette.muted
        return glyphs.notice, palette.muted

    def tick(self) -> bool:
        if self._is_live:
            self._frame += 1
            self._change()
        return self._is_live

    def plain(self) -> str:
        lines = [self._label()]
        if self._is_live:
            return "\n".join([*lines, *map(_line, self._in_order())])
        return "\n\n".join(filter(None, [*lines, self._table, self._rest]))

    def estimate(self, width: int) -> int:
        return self.plain().count("\n") + 1

    def _paint(self, width: int, look: Look) -> Sequence[Line]:
        palette, glyphs = look.palette, look.glyphs
        facts = [self._label()]
        if self._is_live:
            facts.append(duration(self._clock() - self._began, tenths_below=1))
            if speed := sum(standing.speed for standing in self._standings.values()):
                facts.append(f"{speed:.1f} tokens/s together")
        label = f" {glyphs.dot} ".join(facts)
        lines = [one_line([(label, palette.strong)], width, glyphs.ellipsis)]
        if not self._is_live:
            if self._table:
                rows = self._table.split("\n")
                lines += [EMPTY]
                lines += [one_line([(row, palette.text)], width, glyphs.ellipsis) for row in rows]
            return [*lines, EMPTY, *render_plain(self._rest, width, palette.text)]
        for standing in self._in_order():
            style = palette.faint if standing.state in _QUIET else palette.muted
            lines.append(one_line([(_line(standing), style)], width, glyphs.ellipsis))
        return lines

    def _label(self) -> str:
        return f"{counted(self._wish.count, 'attempt')} at: {self._wish.task}"

    def _in_order(self) -> list[Standing]:
        return [self._standings[number] for number in sorted(self._standings)]


def _line(standing: Standing) -> str:
    """How an attempt stands, in columns: what it does, which may be long, comes last."""
    speed = f"{standing.speed:5.1f}" if standing.speed else "    -"
    counts = f"{standing.calls:3} calls {standing.tokens:7,} tokens {speed} tok/s"
    does = f"{standing.state} {standing.detail}".strip()
    return f"{standing.number}  {counts}  {does}"

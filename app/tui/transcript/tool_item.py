"""A tool that runs, or ran, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from rich.style import Style

from gemma_local.app.agent.events import ToolEnded, ToolOutput, ToolStarted
from gemma_local.app.agent.file_diff import FileDiff
from gemma_local.app.counted import counted
from gemma_local.app.durations import duration
from gemma_local.app.tui.lines.diff import render_diff
from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.lines.plain import render_plain
from gemma_local.app.tui.lines.run import Run
from gemma_local.app.tui.lines.terminal import render_output
from gemma_local.app.tui.transcript.indent import INDENT, indented
from gemma_local.app.tui.transcript.item import TOGGLES, Item, Passage, rows_of
from gemma_local.app.tui.transcript.kept_output import HEAD, TAIL, KeptOutput
from gemma_local.app.tui.transcript.look import Look
from gemma_local.app.tui.transcript.one_line import one_line

_LIVE: Final = 6
"""Lines of output that are shown while a command runs."""
_WORTH_SAYING: Final = 0.05
"""Seconds below which nobody wants to know."""


class ToolItem(Item):
    """One line that says what runs and how it ended, and below it the last of the output while it
    runs. Toggled: all that it brought, or the change of a file as a diff."""

    is_snug = True

    def __init__(
        self,
        started: ToolStarted,
        *,
        entry: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(entry=entry)
        self.id = started.id
        self._started = started
        self._ended: ToolEnded | None = None
        self._output = KeptOutput()
        self._is_open = False
        self._clock = clock
        self._began = clock()
        self._frame = 0

    # ------------------------------------------------------------------------------------- events

    def write(self, event: ToolOutput) -> None:
        """The tool wrote something."""
        self._output.write(event.text)
        self._change()

    def end(self, event: ToolEnded) -> None:
        """The tool has ended. What the model reads of it is kept if nothing else was written."""
        if not self._output:
            self._output.write(event.body)
        self._ended = event
        self._change()

    # --------------------------------------------------------------------------------------- item

    @property
    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        return self._ended is None

    def mark(self, look: Look) -> tuple[str, Style]:
        glyphs, palette = look.glyphs, look.palette
        if self._ended is None:
            return glyphs.spinner[self._frame % len(glyphs.spinner)], palette.muted
        return {
            "ok": (glyphs.tick, palette.success),
            "failed": (glyphs.cross, palette.error),
            "refused": (glyphs.refused, palette.warning),
            "stopped": (glyphs.stopped, palette.muted),
        }[self._ended.outcome]

    def toggle(self) -> bool:
        if not self._brought:
            return False
        self._is_open = not self._is_open
        self._change()
        return True

    def tick(self) -> bool:
        if self._ended is None:
            self._frame += 1
            self._change()
        return self._ended is None

    def plain(self) -> str:
        head = f"{self._started.tool} {self._started.title}"
        if self._ended is not None and self._ended.diff is not None:
            return f"{head}\n{self._ended.diff.after or ''}"
        output = self._output
        left_out = [f"({_left_out(output)})"] if output.left_out else []
        return "\n".join(part for part in (head, output.head, *left_out, output.tail) if part)

    def passages(self) -> Sequence[Passage]:
        head = " ".join(text for text, _ in self._facts(None))
        rest = self.plain().partition("\n")[2]
        return Passage(head), Passage(rest, is_folded=not self._is_open)

    def estimate(self, width: int) -> int:
        if self._is_open:
            return 1 + min(HEAD + TAIL, rows_of(self._output.head + self._output.tail, width))
        return 1

    def _paint(self, width: int, look: Look) -> Sequence[Line]:
        runs = [
            (text, style + TOGGLES if self._brought else style) for text, style in self._facts(look)
        ]
        lines = [one_line(runs, width, look.glyphs.ellipsis, give=2)]
        room = max(1, width - INDENT)
        if self._is_open:
            lines += indented(self._content(room, look))
        elif self._ended is None and self._output:
            quiet = replace(look.palette, text=look.palette.muted)
            live = render_output(self._output.last(_LIVE), room, quiet)
            lines += indented(live[-_LIVE:])
        return lines

    # -------------------------------------------------------------------------------------- parts

    @property
    def _brought(self) -> bool:
        return bool(self._output) or self._diff is not None

    @property
    def _diff(self) -> FileDiff | None:
        return self._ended.diff if self._ended is not None else None

    def _facts(self, look: Look | None) -> Iterator[Run]:
        """The tool, its title and how it went, without styles if there is no look."""
        null = Style.null()
        palette, glyphs = (look.palette, look.glyphs) if look is not None else (None, None)
        muted, faint = (palette.muted, palette.faint) if palette else (null, null)
        dot = f" {glyphs.dot} " if glyphs else " "
        yield self._started.tool, palette.strong if palette else null
        yield " ", null
        yield self._started.title, palette.text if palette else null
        ended = self._ended
        if ended is None:
            yield f"{dot}{duration(self._clock() - self._began, tenths_below=1)}", muted
            return
        if ended.outcome == "ok":
            if ended.summary:
                yield f"{dot}{ended.summary}", muted
        else:
            style = muted
            if palette and ended.outcome != "stopped":
                style = palette.error if ended.outcome == "failed" else palette.warning
            says = ended.outcome if ended.outcome not in ended.summary else ""
            yield dot + ": ".join(part for part in (says, ended.summary) if part), style
        if ended.seconds >= _WORTH_SAYING:
            yield f"{dot}{duration(ended.seconds, tenths_below=1)}", faint
        if glyphs and self._brought:
            yield f" {glyphs.open if self._is_open else glyphs.closed}", faint

    def _content(self, width: int, look: Look) -> Iterator[Line]:
        palette, glyphs = look.palette, look.glyphs
        if self._diff is not None:
            yield from render_diff(self._diff, width, palette, glyphs, most=HEAD + TAIL)
            return
        output = self._output
        yield from render_output(output.head, width, palette)
        if output.left_out:
            text = f"{glyphs.ellipsis} {_left_out(output)}"
            for line in render_plain(text, width, palette.faint):
                yield Line(line.segments, lead=line.cells)
        if output.tail:
            yield from render_output(output.tail, width, palette)


def _left_out(output: KeptOutput) -> str:
    return f"{counted(output.left_out, 'line')} left out"

"""Short facts on exactly one line."""

from __future__ import annotations

from collections.abc import Sequence

from gemma_local.app.tui.lines.cells import cells, cut
from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.lines.run import Run, to_segments, width_of
from gemma_local.app.tui.lines.shown import shown_line


def one_line(runs: Sequence[Run], width: int, ellipsis: str, *, give: int | None = None) -> Line:
    """The runs on a line of at most ``width`` cells. If there is no room for all of them the one at
    ``give`` is cut, and then, or without one, whatever is at the end."""
    clean = [(shown_line(text), style) for text, style in runs]
    excess = width_of(clean) - width
    if excess > 0 and give is not None:
        text, style = clean[give]
        clean[give] = (cut(text, max(cells(ellipsis), cells(text) - excess), ellipsis), style)
    left, kept = width, []
    for text, style in clean:
        part = cut(text, left, ellipsis)
        left -= cells(part)
        kept.append((part, style))
        if len(part) < len(text):
            break
    return Line(tuple(to_segments(run for run in kept if run[0])))


def last_of(text: str, width: int, ellipsis: str) -> str:
    """The end of ``text`` that fits into ``width`` cells; an ellipsis says if it is not all."""
    if cells(text) <= width:
        return text
    room = width - cells(ellipsis)
    rest = text[-max(0, room) :] if room > 0 else ""
    while rest and cells(rest) > room:
        rest = rest[1:]
    return (ellipsis + rest.lstrip()) if room > 0 else ellipsis[: max(0, width)]

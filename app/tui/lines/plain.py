"""Text that is no markup: what the person said, notices, thoughts."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style

from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.lines.run import Run
from gemma_local.app.tui.lines.shown import shown
from gemma_local.app.tui.lines.wrap import wrap


def render_plain(
    text: str,
    width: int,
    style: Style,
    *,
    first: Sequence[Run] = (),
    rest: Sequence[Run] = (),
) -> list[Line]:
    """``text`` in lines of at most ``width`` cells; its line ends and blank lines are kept.

    ``first`` stands before the first line and ``rest`` before the others, see ``wrap``.
    """
    return wrap([(shown(text), style)], width, first=first, rest=rest)

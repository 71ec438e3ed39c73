"""What a proposal would do, as lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gemma_local.app.agent.consent import Proposal
from gemma_local.app.tui.glyphs import Glyphs
from gemma_local.app.tui.lines.line import EMPTY, Line
from gemma_local.app.tui.lines.plain import render_plain
from gemma_local.app.tui.lines_pane import Make
from gemma_local.app.tui.palette import Palette

OWN_QUESTIONS: Final = ("files", "plan", "message")
"""In the place of a tool's name, where the app itself asks: the title says all of it."""


def has_body(proposal: Proposal) -> bool:
    """Whether there is more to see than a title."""
    return bool(proposal.command) or proposal.diff is not None


def body(proposal: Proposal, glyphs: Glyphs, *, context: int = 3, most: int | None = None) -> Make:
    """The whole command, and the diff with so many lines of ``context``: all of it, or at most so
    many lines, with the number of those that are left out."""

    def make(width: int, palette: Palette) -> Sequence[Line]:
        lines: list[Line] = []
        if proposal.command:
            # What the app itself asks about is a list of files.
            is_list = proposal.tool in OWN_QUESTIONS
            lines += render_plain(
                proposal.command,
                width,
                palette.text,
                first=[("  " if is_list else "$ ", palette.muted)],
                rest=[("  ", palette.muted)],
            )
        if proposal.diff is not None:
            # Here: most questions are about commands, and the diff brings the highlighter along.
            from gemma_local.app.tui.lines.diff import render_diff

            lines += [EMPTY] if lines else []
            lines += render_diff(proposal.diff, width, palette, glyphs, context=context, most=most)
        return lines

    return make

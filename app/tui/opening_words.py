"""What stands on the screen before anything was said."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gemma_local.app.tui.lines.line import EMPTY, Line
from gemma_local.app.tui.lines.plain import render_plain
from gemma_local.app.tui.transcript.look import Look
from gemma_local.app.tui.transcript.painting import GUTTER
from gemma_local.models.pocket import ABOUT_SPEED, WHAT_IT_IS, is_pocket

if TYPE_CHECKING:
    from gemma_local.app.launch import Launch
    from gemma_local.engine.messages import Ready

_KEYS = (
    ("/", "commands"),
    ("@", "add a file"),
    ("!", "run a command"),
    ("F1", "keys and commands"),
    ("F2", "speed and memory"),
)
_MARGIN = 4
_KEY = 4


def opening_words(
    look: Look,
    width: int,
    folder: Path,
    launch: Launch | None,
    ready: Ready | None,
    toolless: str,
) -> Sequence[Line]:
    """A few quiet lines for a transcript that is ``width`` cells wide. ``toolless`` says why the
    model has no tools, "" if it has."""
    palette, glyphs = look.palette, look.glyphs
    room = max(20, min(look.most, width - 2 * GUTTER))
    dot = f" {glyphs.dot} "
    lines: list[Line] = [EMPTY]

    def say(text: str, *, strong: bool = False) -> None:
        style = palette.heading if strong else palette.muted
        margin = [(" " * GUTTER, style)]
        lines.extend(render_plain(text, room, style, first=margin, rest=margin))

    say("gemma-local", strong=True)
    if launch is None:
        say("looking at this machine ...")
    elif ready is None:
        say(f"loading {launch.target.path.name}")
    else:
        most = f"up to {ready.draft_max}"
        if launch.load.draft_fixed is not None:
            most = f"{launch.load.draft_fixed}"
        drafting = f"drafts {most} tokens" if ready.drafter else "no drafter"
        say(dot.join((ready.name, drafting, f"context {ready.context:,}")))
        if is_pocket(ready.name):
            say(WHAT_IT_IS)
            say(f"{ABOUT_SPEED}; /model chooses a real one")
    say(f"in {folder}")
    if ready is not None:
        say(f"no tools: {toolless}" if toolless else "works on these files with your consent")
    lines.append(EMPTY)
    for key, what in _KEYS:
        margin = [(f"{'':{GUTTER}}{key:{_KEY}}", palette.bullet)]
        lines.extend(render_plain(what, room, palette.muted, first=margin))
    return lines

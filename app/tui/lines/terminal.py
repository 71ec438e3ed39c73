"""What a command wrote to its terminal, as lines."""

from __future__ import annotations

import re
from typing import Final

from rich.style import Style

from gemma_local.app.tui.lines.cells import cells
from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.lines.program_colours import themed
from gemma_local.app.tui.lines.run import Run
from gemma_local.app.tui.lines.sgr import after_sgr
from gemma_local.app.tui.lines.shown import shown
from gemma_local.app.tui.lines.wrap import wrap
from gemma_local.app.tui.palette import Palette

MOST: Final = 400
"""Lines that are painted unless more is asked for."""
MOST_CHARACTERS: Final = 4_000
"""Of one line: behind them it is cut off."""
LOOKED_BACK: Final = 1_000
"""Lines that are left out, of which the last ones say in which colour what follows is."""
TAB: Final = 8

_COLOUR: Final = re.compile(r"(?:\x1b\[|\x9b)([0-9;:]*)m")
# What ends at BEL or ESC \: titles, links, images.
_STRING: Final = re.compile(
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
)
# What moves the cursor, clears, asks, or sets a mode: all but colours.
_SEQUENCE: Final = re.compile(
    r"(?:\x1b\[|\x9b)(?:[0-?]*[ -/]*[@-ln-~]|[0-9;:]*[<-?][0-?]*m)"
    r"|\x1b[ -/]+[0-~]|\x1b[0-Z\\^_`-~]"
)
_PIECE: Final = re.compile(r"(?:\x1b\[|\x9b)[0-9;:]*m|.", re.DOTALL)


def render_output(text: str, width: int, palette: Palette, *, most: int = MOST) -> list[Line]:
    """``text`` in lines of at most ``width`` cells.

    Colours are kept; all else that a terminal would act upon is left out. Of a line that was
    written over again and again (a progress bar) the last state is shown. Of more than ``most``
    lines of text the first quarter and the end are, and between them how many are not.
    """
    if not text:
        return []
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    left_out = max(len(lines) - most, 0)
    head = len(lines) if not left_out else max(most // 4, 1)
    painted: list[Line] = []
    style = Style.null()
    for line in lines[:head]:
        runs, style = _runs(line, style, palette)
        painted += wrap(runs, width)
    if left_out:
        said = f"... {left_out} line{'s' if left_out > 1 else ''} left out ..."
        painted += wrap([(said, palette.muted)], width)
        end = head + left_out
        for line in lines[max(head, end - LOOKED_BACK) : end]:
            style = _style_after(line, style)
        for line in lines[end:]:
            runs, style = _runs(line, style, palette)
            painted += wrap(runs, width)
    return painted


def _last_state(line: str) -> tuple[str, str]:
    """What was written over, and what can be read in the end."""
    line = _SEQUENCE.sub("", _STRING.sub("", line)).replace("\x07", "").rstrip("\r")
    gone, _, last = line.rpartition("\r")
    return gone, _struck_over(last) if "\x08" in last else last


def _struck_over(line: str) -> str:
    """Without the characters that a backspace took back, which is how bold print was once made."""
    left: list[str] = []
    for piece in _PIECE.findall(line):
        if piece != "\x08":
            left.append(piece)
        elif left and len(left[-1]) == 1:
            left.pop()
    return "".join(left)


def _style_after(text: str, style: Style) -> Style:
    for parameters in _COLOUR.findall(text):
        style = after_sgr(style, parameters)
    return style


def _runs(line: str, style: Style, palette: Palette) -> tuple[list[Run], Style]:
    """The runs of a line that begins in ``style``, and the style in which it ends."""
    gone, line = _last_state(line)
    style = _style_after(gone, style)
    rest = len(line) - MOST_CHARACTERS
    runs: list[Run] = []
    column = 0
    for index, piece in enumerate(_COLOUR.split(line[:MOST_CHARACTERS])):
        if index % 2:
            style = after_sgr(style, piece)
            continue
        # Tabs go by the column in the whole line.
        before = column % TAB
        text = shown(" " * before + piece, tab=TAB)[before:]
        column += cells(text)
        programs = palette.programs
        runs.append((text, palette.text + (themed(style, programs) if programs else style)))
    if rest > 0:
        runs.append((f" ... {rest} characters left out", palette.muted))
    return runs, style

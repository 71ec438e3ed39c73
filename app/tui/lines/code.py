"""Blocks of code: a label, and the code on a ground of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rich.style import Style

from gemma_local.app.tui.glyphs import UNICODE, Glyphs
from gemma_local.app.tui.lines.cells import cells, fitting
from gemma_local.app.tui.lines.highlight import highlight, language_of
from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.lines.run import Run, parts, text_of, to_segments, width_of
from gemma_local.app.tui.lines.shown import shown, shown_line
from gemma_local.app.tui.lines.wrap import fold
from gemma_local.app.tui.palette import Palette

COPY: Final = "copy"
"""What the label says, and the key of its meta data: the index of the block."""


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Code as it is copied: ``text`` without a newline at its end, ``language`` as it was named."""

    language: str
    text: str


def render_code(
    block: CodeBlock,
    index: int | None,
    width: int,
    palette: Palette,
    glyphs: Glyphs,
    *,
    before: tuple[Run, ...] = (),
    rest: tuple[Run, ...] = (),
    coloured: bool = True,
) -> list[Line]:
    """A label, then the code in lines of exactly ``width`` cells, of which one at each side is the
    ground's edge. Code that is wider goes on in the next line, behind a mark.

    ``index`` is what the label's "copy" says of the block in its meta data; without one there is
    none. ``before`` stands before the label and ``rest`` before all other lines, as decoration.
    """
    text = shown(block.text, ascii_only=glyphs is not UNICODE)
    coloured_lines = (
        highlight(text, language_of(block.language), palette)
        if coloured
        else [[(line, palette.code_block)] for line in text.split("\n")]
    )
    lines = [code_label(block.language, index, width, palette, glyphs, before=before)]
    for runs in coloured_lines:
        lines += code_line(runs, width, palette.code_block, palette, glyphs, rest=rest)
    return lines


def code_line(
    runs: list[Run],
    width: int,
    ground: Style,
    palette: Palette,
    glyphs: Glyphs,
    *,
    first: tuple[Run, ...] = (),
    rest: tuple[Run, ...] = (),
) -> list[Line]:
    """One line of code on its ``ground``, which fills ``width`` cells; more lines if it is wider.

    ``first`` stands before the first of them (as ``rest``, if there is none), ``rest`` before the
    others.
    """
    first = first or rest
    text = text_of(runs)
    edge = (" ", ground)
    mark = (glyphs.wrapped, ground + palette.faint)
    room = width - width_of(first) - 2
    more = width - width_of(rest) - 3
    spans = [(0, len(text))] if cells(text) <= room else fold(text, room, more)
    lines: list[Line] = []
    for number, part in enumerate(parts(runs, spans)):
        before = (*rest, mark, edge) if number else (*first, edge)
        lead, size = width_of(before), width_of(part)
        tail = max(width - lead - size, 0)
        painted = to_segments((*before, *part, (" " * tail, ground)))
        lines.append(
            Line(tuple(painted), lead=lead, tail=tail, continues=number + 1 < len(spans), joint="")
        )
    return lines


def code_label(
    language: str,
    index: int | None,
    width: int,
    palette: Palette,
    glyphs: Glyphs,
    *,
    before: tuple[Run, ...] = (),
) -> Line:
    """The line above a block of code, see ``render_code``. All of it is decoration."""
    style = palette.code_label
    room = width - width_of(before) - 2
    copy = COPY if index is not None and room >= len(COPY) else ""
    most = max(room - len(copy) - 1 if copy else room, 0)
    name = shown_line(language, ascii_only=glyphs is not UNICODE)
    if cells(name) > most:
        end, _ = fitting(name, 0, max(most - cells(glyphs.ellipsis), 1))
        name = name[:end] + glyphs.ellipsis if most > cells(glyphs.ellipsis) else ""
    filling = max(room - cells(name) - len(copy), 0)
    pieces: list[Run] = [*before, (f" {name}{' ' * filling}", style)]
    if copy:
        pieces.append((copy, style + Style(meta={COPY: index})))
    pieces.append((" ", style))
    return Line(tuple(to_segments(pieces)), lead=width_of(pieces))

"""Markdown as lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.style import Style

from gemma_local.app.tui.glyphs import UNICODE, Glyphs
from gemma_local.app.tui.lines.code import CodeBlock, render_code
from gemma_local.app.tui.lines.frame import Frame
from gemma_local.app.tui.lines.inline import Inline
from gemma_local.app.tui.lines.line import EMPTY, Line
from gemma_local.app.tui.lines.parse import (
    Document,
    Node,
    References,
    code_blocks,
    code_of,
    is_code,
    parse,
)
from gemma_local.app.tui.lines.plain import render_plain
from gemma_local.app.tui.lines.run import Run, to_segments, width_of
from gemma_local.app.tui.lines.shown import shown
from gemma_local.app.tui.lines.table import Table, render_table
from gemma_local.app.tui.lines.wrap import wrap
from gemma_local.app.tui.palette import Palette

__all__ = ["CodeBlock", "code_blocks", "render_document", "render_markdown"]

_TODO: Final = "[ ] "
_DONE: Final = ("[x] ", "[X] ")


def render_markdown(
    source: str,
    width: int,
    palette: Palette,
    glyphs: Glyphs,
    *,
    first_code: int = 0,
    references: References | None = None,
) -> list[Line]:
    """``source`` in lines of at most ``width`` cells (20 or more; below that a line can be wider).

    Blocks are separated by one empty line; there is none before the first and after the last.
    ``first_code`` is the index of the first block of code, as its label says it in its meta data;
    ``references`` are definitions of links from text before this.
    """
    return render_document(
        parse(source, references), source, width, palette, glyphs, first_code=first_code
    )


def render_document(
    document: Document,
    source: str,
    width: int,
    palette: Palette,
    glyphs: Glyphs,
    *,
    first_code: int = 0,
    coloured: bool = True,
) -> list[Line]:
    """As ``render_markdown``, for text that has been read; without ``coloured`` code is plain."""
    if document.is_too_deep:
        return render_plain(source.rstrip(), width, palette.text)
    return _Blocks(palette, glyphs, first_code, coloured).within(
        document.blocks, Frame(width), palette.text, apart=True
    )


@dataclass(frozen=True, slots=True)
class Numbering:
    """How the items of a list are painted: the number of the first, how many digits there is room
    for, and whether blank lines stand between them."""

    first: int
    digits: int
    is_apart: bool


def is_loose(node: Node) -> bool:
    """Whether the items of a list stand apart. markdown-it hides their paragraphs if not."""
    return any(
        block.type == "paragraph" and not block.token.hidden
        for item in node.children
        for block in item.children
    )


def render_items(
    nodes: Sequence[Node],
    numbering: Numbering,
    width: int,
    palette: Palette,
    glyphs: Glyphs,
    *,
    first_code: int = 0,
) -> list[Line]:
    """A part of a long list, without colours in code; what follows it as ``render_document``."""
    blocks = _Blocks(palette, glyphs, first_code, coloured=False)
    frame = Frame(width)
    lines: list[Line] = []
    for node in nodes:
        if node.type.endswith("_list"):
            lines += blocks.items(node, numbering, frame, palette.text, 0)
        else:
            lines += blocks.within([node], frame, palette.text, apart=True)
    return lines


def _numbering(node: Node) -> Numbering:
    first = int(node.token.attrs.get("start", 1))
    return Numbering(first, len(str(first + len(node.children) - 1)), is_loose(node))


class _Blocks:
    """Paints blocks one after the other, and counts those of code."""

    def __init__(self, palette: Palette, glyphs: Glyphs, first_code: int, coloured: bool) -> None:
        self._palette = palette
        self._glyphs = glyphs
        self._next_code = first_code
        self._coloured = coloured
        self._inline = Inline(palette, glyphs)

    def within(
        self, nodes: Sequence[Node], frame: Frame, base: Style, *, apart: bool, depth: int = 0
    ) -> list[Line]:
        """The lines of ``nodes``, with a blank line between them if they stand ``apart``."""
        lines: list[Line] = []
        for node in nodes:
            if lines and apart:
                lines.append(frame.blank())
            lines += self._block(node, frame, base, depth)
        return lines

    def _block(self, node: Node, frame: Frame, base: Style, depth: int) -> list[Line]:
        match node.type:
            case "paragraph":
                return self._text(self._runs(node, base), frame)
            case "heading":
                return self._text(self._runs(node, base + self._heading(node.token.tag)), frame)
            case "bullet_list" | "ordered_list":
                return self.items(node, _numbering(node), frame, base, depth)
            case "blockquote":
                bar = (f"{self._glyphs.quote} ", self._palette.faint)
                quoted, inner = base + self._palette.quote, frame.inside(bar, bar)
                painted = self.within(node.children, inner, quoted, apart=True)
                return painted or self._text([], inner)
            case "table":
                return render_table(self._table(node, base), frame, self._palette, self._glyphs)
            case "hr":
                rule = (self._glyphs.rule * frame.room, self._palette.faint)
                pieces = (*frame.lead(), rule)
                return [Line(tuple(to_segments(pieces)), lead=width_of(pieces))]
            case _ if is_code(node):
                return self._code(node, frame)
            case _:
                # HTML, which nothing here draws.
                text = shown(node.token.content.rstrip("\n"), ascii_only=self._ascii_only)
                return self._text([(text, base)], frame)

    @property
    def _ascii_only(self) -> bool:
        return self._glyphs is not UNICODE

    def _text(self, runs: list[Run], frame: Frame) -> list[Line]:
        return wrap(runs, frame.width, first=frame.lead(), rest=frame.lead())

    def _runs(self, node: Node, base: Style) -> list[Run]:
        children = node.children[0].token.children if node.children else None
        return self._inline.runs(children or (), base)

    def _heading(self, tag: str) -> Style:
        match tag:
            case "h1":
                return self._palette.heading + Style(underline=True)
            case "h2":
                return self._palette.heading
            case _:
                return self._palette.strong

    def _code(self, node: Node, frame: Frame) -> list[Line]:
        index = self._next_code
        self._next_code += 1
        return render_code(
            code_of(node),
            index,
            frame.width,
            self._palette,
            self._glyphs,
            before=frame.lead(),
            rest=frame.lead(),
            coloured=self._coloured,
        )

    def items(
        self, node: Node, numbering: Numbering, frame: Frame, base: Style, depth: int
    ) -> list[Line]:
        """The items of a list."""
        bullets = self._glyphs.bullets
        lines: list[Line] = []
        for number, item in enumerate(node.children, numbering.first):
            if lines and numbering.is_apart:
                lines.append(frame.blank())
            mark = self._box(item)
            if node.type == "ordered_list":
                numbered = f"{number:>{numbering.digits}}{node.token.markup}"
                mark = f"{numbered} {mark}" if mark else numbered
            mark = mark or bullets[min(depth, len(bullets) - 1)]
            piece = (f"{mark} ", self._palette.bullet)
            inner = frame.inside(piece, (" " * width_of([piece]), Style.null()))
            painted = self.within(
                item.children, inner, base, apart=numbering.is_apart, depth=depth + 1
            )
            lines += painted or self._text([], inner)
        return lines

    def _box(self, item: Node) -> str:
        """The box of a task, which is taken out of the item's text; empty if it is none."""
        if not item.children or item.children[0].type != "paragraph":
            return ""
        inline = item.children[0].children[0].token
        text = inline.children[0] if inline.children else None
        if text is None or not text.content.startswith((_TODO, *_DONE)):
            return ""
        is_done = text.content.startswith(_DONE)
        text.content = text.content[len(_TODO) :]
        return self._glyphs.done if is_done else self._glyphs.todo

    def _table(self, node: Node, base: Style) -> Table:
        rows = [row.children for section in node.children for row in section.children]
        sides = [str(cell.token.attrs.get("style", "")) for cell in rows[0]]
        return Table(
            head=[self._runs(cell, base + self._palette.table_head) for cell in rows[0]],
            rows=[[self._runs(cell, base) for cell in row] for row in rows[1:]],
            right=frozenset(i for i, side in enumerate(sides) if side.endswith("right")),
            centre=frozenset(i for i, side in enumerate(sides) if side.endswith("center")),
        )


def gap(lines: list[Line], is_first: bool) -> list[Line]:
    """``lines`` of blocks that come after others, with the empty line between."""
    return lines if is_first or not lines else [EMPTY, *lines]

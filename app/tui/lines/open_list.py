"""A long list whose end has not come yet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from gemma_local.app.tui.glyphs import Glyphs
from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.lines.markdown import Numbering, is_loose, render_items
from gemma_local.app.tui.lines.opening import Opening, mark_of
from gemma_local.app.tui.lines.parse import Node, References, all_nodes, is_code, parse
from gemma_local.app.tui.palette import Palette

ITEMS: Final = 10
"""Painted together; only the last of these groups is painted again when text comes."""

_ITEM: Final = re.compile(r"^ {0,1}(?:[-*+]|\d{1,9}[.)])(?=[ \t\r\n])", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Group:
    """Some items that follow each other."""

    nodes: list[Node]
    items: int
    codes: int
    is_loose: bool


class OpenList:
    """Paints it in groups of items, each as a list of its own."""

    def __init__(self) -> None:
        self._read: dict[str, _Group] = {}
        self._painted: dict[tuple[object, ...], list[Line]] = {}

    def lines(
        self,
        text: str,
        opening: Opening,
        first_code: int,
        references: References | None,
        width: int,
        palette: Palette,
        glyphs: Glyphs,
    ) -> list[Line]:
        """``text`` begins with the list; see ``render_markdown`` for the rest."""
        sources = list(_groups(text, opening.mark))
        # Of what was read and painted only what is still there is kept.
        self._read = {s: self._read.get(s) or _group(s, references) for s in sources}
        groups = [self._read[source] for source in sources]
        is_apart = any(group.is_loose for group in groups) or any(
            source.endswith(("\n\n", "\n\r\n")) for source in sources[:-1]
        )
        first = int(groups[0].nodes[0].token.attrs.get("start", 1)) if groups[0].nodes else 1
        last = first + sum(group.items for group in groups) - 1
        painted: dict[tuple[object, ...], list[Line]] = {}
        lines: list[Line] = []
        for source, group in zip(sources, groups, strict=True):
            numbering = Numbering(first, len(str(last)), is_apart)
            key = (source, numbering, first_code, width, palette, glyphs)
            painted[key] = self._painted.get(key) or render_items(
                group.nodes, numbering, width, palette, glyphs, first_code=first_code
            )
            if lines and is_apart:
                lines.append(Line(()))
            lines += painted[key]
            first += group.items
            first_code += group.codes
        self._painted = painted
        return lines


def _groups(text: str, mark: str) -> Iterator[str]:
    starts = [found.start() for found in _ITEM.finditer(text) if mark_of(found.group()) == mark]
    cuts = [0, *starts[ITEMS::ITEMS], len(text)]
    for start, end in pairwise(cuts):
        yield text[start:end]


def _group(source: str, references: References | None) -> _Group:
    nodes = parse(source, references).blocks
    return _Group(
        nodes,
        items=len(nodes[0].children) if nodes else 0,
        codes=sum(map(is_code, all_nodes(nodes))),
        is_loose=any(is_loose(node) for node in nodes if node.type.endswith("_list")),
    )

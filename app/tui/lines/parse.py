"""Markdown read: CommonMark with tables, text struck through and task lists."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from gemma_local.app.tui.lines.code import CodeBlock

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

References: TypeAlias = Mapping[str, Any]
"""Addresses of links by label, as markdown-it keeps them."""

DEEPEST: Final = 100
"""Levels of lists and quotes within each other; what lies deeper is shown as it was written."""

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


@dataclass(slots=True)
class Node:
    """A block with the blocks in it, or a leaf."""

    token: Token
    children: list[Node] = field(default_factory=list)

    @property
    def type(self) -> str:
        """Without the "_open" of markdown-it's pairs of tokens."""
        return self.token.type.removesuffix("_open")


@dataclass(frozen=True, slots=True)
class Document:
    """What was read: blocks in order, and all definitions of links known at its end."""

    blocks: list[Node]
    references: References
    is_too_deep: bool
    """Some of the text is in no block."""


def parse(source: str, references: References | None = None) -> Document:
    """The blocks of ``source``. ``references`` were defined before it and go before its own."""
    environment: dict[str, Any] = {"references": dict(references or {})}
    # One for one, so that offsets stay. Addresses of links could not be encoded otherwise.
    tokens = _parser().parse(_SURROGATE.sub("\ufffd", source), environment)
    is_too_deep = any(token.level >= DEEPEST - 2 for token in tokens)
    return Document(_tree(tokens), environment["references"], is_too_deep)


def code_blocks(source: str) -> list[CodeBlock]:
    """The blocks of code in ``source``, in the order in which their labels count them."""
    return [code_of(node) for node in all_nodes(parse(source).blocks) if is_code(node)]


def all_nodes(nodes: list[Node]) -> Iterator[Node]:
    """The nodes and what is in them, in the order of the text."""
    for node in nodes:
        yield node
        yield from all_nodes(node.children)


def is_code(node: Node) -> bool:
    """Whether it is a block of code, fenced or indented."""
    return node.type in ("fence", "code_block")


def code_of(node: Node) -> CodeBlock:
    """The code of a block of code."""
    info = node.token.info.strip()
    return CodeBlock(info.split()[0] if info else "", node.token.content.removesuffix("\n"))


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import table

    parser = MarkdownIt("commonmark", {"maxNesting": DEEPEST}).enable("strikethrough")
    # markdown-it looks for tables first, and takes a heading or a fence with a bar in it for one if
    # dashes follow. In GitHub's Markdown only what would be a paragraph can be the head of one; and
    # a block must not depend on what comes after it.
    parser.block.ruler.before("paragraph", "late_table", table, {"alt": ["paragraph", "reference"]})
    return parser


def _tree(tokens: list[Token]) -> list[Node]:
    blocks: list[Node] = []
    path: list[list[Node]] = [blocks]
    for token in tokens:
        if token.nesting < 0:
            path.pop()
            continue
        node = Node(token)
        path[-1].append(node)
        if token.nesting > 0:
            path.append(node.children)
    return blocks

"""What the first line of a block says about where the block ends."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_FENCE: Final = re.compile(r"( {0,3})(`{3,}(?=[^`]*$)|~{3,})(.*)")
_ITEM: Final = re.compile(r"( {0,3}(?:[-*+]|\d{1,9}[.)]))([ \t]+|$)")
# What can begin a block that needs no blank line before it.
_STARTS: Final = frozenset("#>-*+_=`~<|0123456789")


@dataclass(frozen=True, slots=True)
class Opening:
    """The first line of a block: a ``fence`` with its ``indent`` and ``info``, an item of a list
    with this ``mark`` whose text begins in this ``column``, a quote, or none of these.

    ``may_hold_blanks``: it may be HTML or indented code, which blank lines do not always end.
    """

    fence: str = ""
    indent: int = 0
    info: str = ""
    mark: str = ""
    column: int = 0
    is_quote: bool = False
    may_hold_blanks: bool = False

    def is_ended_by(self, line: str) -> bool:
        """Whether ``line`` closes the fence."""
        inner = line.strip(" \t")
        return (
            _indent(line) < 4
            and len(inner) >= len(self.fence)
            and inner == self.fence[0] * len(inner)
        )

    def after(self, line: str) -> Opening:
        """The same, where ``line`` is the list's next item: its text may begin elsewhere."""
        is_item = self.mark and mark_of(line) == self.mark and _indent(line) < self.column
        return opening_of(line) if is_item else self

    def may_end_before(self, line: str, before: str) -> bool:
        """Whether another block may begin with ``line``, which follows ``before``, or this one end
        with it. That it does is for the parser to say; where this says no although it does it is
        found out later."""
        is_blank = not line.strip(" \t")
        if self.mark and (is_blank or _indent(line) >= self.column or mark_of(line) == self.mark):
            return False
        if self.is_quote and line.startswith(">"):
            return False
        if line.startswith("|") and before.startswith("|") and line.strip(" \t|:-"):
            # A row of a table; what may make one of the lines above it is the row of dashes.
            return False
        return is_blank or not before.strip(" \t") or line.lstrip(" ")[:1] in _STARTS


def opening_of(line: str) -> Opening:
    """What ``line``, which is not blank and the first of a block, begins."""
    if found := _FENCE.match(line):
        indent, fence, info = found.groups()
        return Opening(fence=fence, indent=len(indent), info=info.strip())
    if item := _ITEM.match(line):
        # Code in an item is indented by four more, and its first line is not text of the item.
        blanks = len(item.group(2).expandtabs(4))
        column = len(item.group(1)) + (blanks if 1 <= blanks <= 4 else 1)
        return Opening(mark=mark_of(line), column=column)
    text = line.lstrip(" ")
    holds = _indent(line) >= 4 or text.startswith("<")
    return Opening(is_quote=text.startswith(">"), may_hold_blanks=holds)


def mark_of(line: str) -> str:
    """The character by which items of one list know each other: "-", "*", "+", "." or ")"."""
    found = _ITEM.match(line)
    return found.group(1)[-1] if found else ""


def _indent(line: str) -> int:
    spread = line.expandtabs(4)
    return len(spread) - len(spread.lstrip(" "))

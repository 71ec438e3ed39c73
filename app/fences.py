"""Code in Markdown that nothing within it ends."""

from __future__ import annotations

import re
from typing import Final

_RUN: Final = re.compile("`+")


def fence_for(text: str) -> str:
    """The fence of a block with ``text``: longer than every run of backticks in it."""
    return "`" * max(3, _longest_run(text) + 1)


def fenced(text: str, language: str = "") -> str:
    """``text`` as a block of code."""
    fence = fence_for(text)
    return f"{fence}{language}\n{text.removesuffix(chr(10))}\n{fence}"


def code(text: str) -> str:
    """``text`` as code within a line."""
    if not text:
        return ""
    ticks = "`" * (_longest_run(text) + 1)
    space = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in _RUN.findall(text)), default=0)

"""Sentences with commands in them, which are written between backticks."""

from __future__ import annotations

from textual.content import Content

_COMMAND = "$accent"


def with_commands(text: str) -> Content:
    """``text`` with what stands between backticks in a colour of its own, and without them."""
    parts = text.split("`")
    return Content.assemble(
        *((part, _COMMAND) if at % 2 else part for at, part in enumerate(parts))
    )

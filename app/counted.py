"""Numbers of things in words."""

from __future__ import annotations


def counted(count: int, one: str, many: str = "") -> str:
    """ "1 answer", "2,048 tokens"; ``many`` is the plural where an s is not enough."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"

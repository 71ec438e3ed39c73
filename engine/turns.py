"""Whose turn it is, where several want the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

_PATIENCE: Final = 4
"""Every so many turns are given without regard to priority."""

Item = TypeVar("Item")


class Turns:
    """Gives turns by priority, and now and then to whoever waited longest, so that nobody waits for
    ever: where n wait, none is passed over more than 4 n times.
    """

    def __init__(self) -> None:
        self._given = 0

    def pick(self, waiting: Sequence[Item], priority: Callable[[Item], int]) -> Item:
        """One of ``waiting``, of which there must be one; whoever waited longest comes first."""
        self._given += 1
        if self._given % _PATIENCE == 0:
            return waiting[0]
        # Of equals, max takes the first.
        return max(waiting, key=priority)

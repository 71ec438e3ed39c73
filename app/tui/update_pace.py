"""How often the screen is updated while an answer comes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

PAUSE: Final = 1 / 12
"""Seconds between two updates: nobody reads faster."""
SHARE: Final = 0.1
"""The part of a core that updates may take: a slow machine, a slow terminal or a long table must
not take the processor from the model."""
LONGEST: Final = 1.0


class UpdatePace:
    """Knows when the next update is due. Used by the thread that draws, and by no other."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        spent: Callable[[], float] = time.thread_time,
    ) -> None:
        """``spent``: seconds of processor time that this thread has had."""
        self._clock = clock
        self._spent = spent
        self._began_at = float("-inf")
        self._spent_then = 0.0
        self._pause = PAUSE

    @property
    def wait(self) -> float:
        """Seconds until the next update is due; 0 if it is due now."""
        return max(0.0, self._began_at + self._pause - self._clock())

    def begin(self) -> None:
        """An update begins."""
        now, spent = self._clock(), self._spent()
        # Painting comes after the update that asked for it, so all is counted that was spent since
        # the last one; but not if that is long ago, for then it was spent on something else.
        is_steady = now - self._began_at <= 2 * self._pause
        cost = spent - self._spent_then if is_steady else 0.0
        self._pause = min(max(PAUSE, cost / SHARE), LONGEST)
        self._began_at, self._spent_then = now, spent

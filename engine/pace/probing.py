"""When to look again at what does not pay."""

from __future__ import annotations


class Probing:
    """Counts passes until the next look: at growing intervals while nothing has changed."""

    def __init__(self, first: int, most: int) -> None:
        """``first`` and ``most`` passes between two looks."""
        self._first = first
        self._most = most
        self._interval = first
        self._left = first
        self._looks = 0
        self._at_once = 0
        self._successes = 0
        self._enough = 0

    def set_bounds(self, first: int, most: int, at_once: int = 0, enough: int = 0) -> None:
        """New intervals, once the price of a look is known better. The first ``at_once`` looks
        follow on one another: nothing is known yet. After ``enough`` that succeeded in a row what
        they tell is known, and the next one waits as if it had failed; 0: none ever does."""
        self._at_once, self._enough = at_once, enough
        self._first, self._most = first, max(first, most)
        self._interval = min(max(self._interval, first), self._most)
        self._left = min(self._left, self._interval)

    def is_due(self) -> bool:
        """Call once a pass: whether to look in this one."""
        self._left -= 1
        is_due = self._left < 0 or self._looks < self._at_once
        self._looks += is_due
        return is_due

    def failed(self) -> None:
        """It still does not pay: wait twice as long."""
        self._successes = 0
        self._wait()

    def _wait(self) -> None:
        if self._looks > self._at_once:
            self._interval = min(self._interval * 2, self._most)
        self._left = self._interval

    def succeeded(self) -> None:
        """It may pay again: look at once, to be sure."""
        self._successes += 1
        if self._successes == self._enough:
            self._successes = 0
            self._wait()
        else:
            self._interval = self._first
            self._left = 0

    def restart(self) -> None:
        """It pays, or did until now: begin with short intervals next time."""
        self._interval = self._left = self._first
        self._successes = 0

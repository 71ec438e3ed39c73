"""What something may cost, and what it does cost."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median


@dataclass(frozen=True, slots=True)
class Budget:
    """``figures`` are of several runs, in ``unit``; their median may be ``limit`` at most, or must
    be it at least where ``is_floor``. Without a limit it is only worth knowing."""

    what: str
    figures: Sequence[float]
    unit: str
    limit: float | None = None
    is_floor: bool = False
    load: float = field(default_factory=lambda: os.getloadavg()[0])
    """Of the machine over the last minute, when it was measured."""

    @property
    def measured(self) -> float:
        return median(self.figures)

    @property
    def verdict(self) -> str:
        """ "kept", "broken", or nothing where there is no limit."""
        if self.limit is None:
            return ""
        is_kept = self.measured >= self.limit if self.is_floor else self.measured <= self.limit
        return "kept" if is_kept else "BROKEN"

    def line(self) -> str:
        """One line of the table."""
        sign = "" if self.limit is None else ">= " if self.is_floor else "<= "
        limit = "" if self.limit is None else f"{sign}{_figure(self.limit)}"
        spread = ""
        if len(self.figures) > 1:
            low, high = min(self.figures), max(self.figures)
            spread = f"{_figure(low)} to {_figure(high)} of {len(self.figures)}"
        return (
            f"{self.what:54} {limit:>9} {_figure(self.measured):>8} {self.unit:5} "
            f"{self.verdict:6}  {spread:24} load {self.load:.1f}"
        ).rstrip()


def _figure(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 99.5 else f"{value:.3g}"

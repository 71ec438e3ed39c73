"""How the learning rate goes: up, level, and down to nothing at the end."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Schedule:
    """A rate for each step. The last ``falling`` share of ``steps`` goes linearly to zero."""

    steps: int
    peak: float
    rising: int = 40
    falling: float = 0.4

    def rate(self, step: int) -> float:
        """The learning rate of a step, counted from 0."""
        up = min(1.0, (step + 1) / self.rising)
        down = min(1.0, (self.steps - step) / max(1.0, self.steps * self.falling))
        return self.peak * up * max(0.0, down)

    @property
    def falls_at(self) -> int:
        """The first step of the descent: from there one can also go on longer."""
        return int(self.steps * (1 - self.falling))

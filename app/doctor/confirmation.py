"""Holds planned memory against what llama.cpp itself would allocate, and loads nothing for it."""

from __future__ import annotations

from dataclasses import dataclass

from gemma_local.app import folders
from gemma_local.engine.measure import Buffers, measure
from gemma_local.engine.plan.choice import SizePlan
from gemma_local.models.rearrangement import USUAL


@dataclass(frozen=True, slots=True)
class Confirmation:
    """Bytes for computing, of target and drafter: as planned, and as llama.cpp says."""

    label: str
    planned: int
    confirmed: int

    @property
    def is_near(self) -> bool:
        """Whether it takes no more than a tenth more than was planned."""
        return self.confirmed <= self.planned * 1.1


def confirm(size: SizePlan | None) -> Confirmation | None:
    """Ask llama.cpp about a model that is here; None if it is not, or does not fit.

    Answers are kept, so it takes seconds once. Raises NotMeasured.
    """
    if size is None or size.candidate.path is None or size.fitting is None:
        return None
    settings, candidate = size.fitting.settings, size.candidate
    drafter = candidate.drafter_path if settings.draft_max else None
    use = settings.use(USUAL)
    assert candidate.path is not None
    measured = measure(candidate.path, drafter, use, folders.buffers_path())
    planned = size.fitting.footprint.of("compute") + size.fitting.footprint.of("drafter compute")
    both = (measured.target, *((measured.drafter,) if measured.drafter is not None else ()))
    return Confirmation(candidate.label, planned, sum(map(_computing, both)))


def _computing(buffers: Buffers) -> int:
    return buffers.compute_host + buffers.compute_device

"""Holds planned memory against what llama.cpp itself would allocate, and loads nothing for it."""

from __future__ import annotations

from dataclasses import dataclass

from gemma_local.app import folders
from gemma_local.engine.hardware.detection import detect
from gemma_local.engine.measure import Buffers, measure
from gemma_local.engine.plan.candidate import candidate_of_files
from gemma_local.engine.plan.choice import SizePlan, plan_one
from gemma_local.models.drafter import DrafterFacts
from gemma_local.models.foreign_file import human_bytes
from gemma_local.models.rearrangement import USUAL
from gemma_local.models.target import TargetFacts


@dataclass(frozen=True, slots=True)
class Confirmation:
    """Bytes for computing, of target and drafter: as planned, and as llama.cpp says."""

    label: str
    planned: int
    confirmed: int

    def sentence(self) -> str:
        """For a person."""
        return (
            f"llama.cpp itself plans {human_bytes(self.confirmed)} for computing; "
            f"{human_bytes(self.planned)} {'were' if self.is_near else 'only were'} expected"
        )

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


def confirm_files(target: TargetFacts, drafter: DrafterFacts | None) -> Confirmation | None:
    """The same for files that have just come, as they would run on this machine.

    Raises NotMeasured, WishRefused.
    """
    return confirm(plan_one(detect(), candidate_of_files(target, drafter)))


def _computing(buffers: Buffers) -> int:
    return buffers.compute_host + buffers.compute_device

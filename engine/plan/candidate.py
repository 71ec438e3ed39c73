"""A pair that could run: what planning needs to know of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gemma_local.models.anatomy import Anatomy
from gemma_local.models.drafter import DrafterFacts
from gemma_local.models.target import TargetFacts

RANKS: Final = {"E2B": 1, "E4B": 2, "12B": 3, "26B-A4B": 4, "31B": 5}
"""The published sizes, the better answers the higher. 0 is any other model."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A target with its drafter, on this disk or to be downloaded.

    ``label`` is the size ("E4B"), of another model its name. Bytes are of both files. Expert
    numbers are 0 for a dense model; ``expert_parameters`` are those of all experts together.
    """

    label: str
    quantisation: str
    target: Anatomy
    drafter: Anatomy | None
    context_limit: int
    parameters: int
    active_parameters: int
    bytes: int
    experts: int = 0
    experts_used: int = 0
    expert_parameters: int = 0
    path: Path | None = None
    """Of the target; None: it must be downloaded first."""
    drafter_path: Path | None = None

    @property
    def rank(self) -> int:
        """Its place in `RANKS`."""
        return RANKS.get(self.label, 0)

    @property
    def layers(self) -> int:
        """Blocks; with the output, one more can be on a device."""
        return len(self.target.weights.layers)

    @property
    def matrix_bytes(self) -> int:
        """Weights that passes multiply with; a pass of a mixture of experts reads a part of them.
        Neither the token embedding, of which rows are looked up, nor the per-layer table."""
        weights = self.target.weights
        return sum(layer.total for layer in weights.layers) + weights.head.total

    def read_bytes(self, rows: int) -> float:
        """Bytes of weights that a pass over ``rows`` tokens reads.

        Of a mixture of experts each row chooses its own, so n rows touch 1 - (1 - k/E)^n of them:
        that is why verifying drafts saves little there (ai.google.dev/gemma/docs/mtp/overview).
        """
        if not self.experts:
            return float(self.matrix_bytes)
        of_experts = self.matrix_bytes * self.expert_parameters / self.parameters
        touched = 1.0 - (1.0 - self.experts_used / self.experts) ** rows
        return self.matrix_bytes - of_experts * (1.0 - touched)

    def cache_read_bytes(self, tokens: int, numerator: int = 2, denominator: int = 1) -> float:
        """Bytes of keys and values that a pass reads with ``tokens`` in the cache, at so many bytes
        a number (f16: 2)."""
        total = 0
        for slides, kv in self.target.kv_layers:
            seen = min(tokens, self.target.window) if slides else tokens
            total += 2 * kv.head_size * kv.kv_heads * seen
        return total * numerator / denominator

    @property
    def window_bytes(self) -> int:
        """One full sliding window, as a checkpoint keeps it (f16)."""
        sizes = (2 * kv.head_size * kv.kv_heads for slides, kv in self.target.kv_layers if slides)
        return 2 * self.target.window * sum(sizes)


def candidate_of_files(target: TargetFacts, drafter: DrafterFacts | None) -> Candidate:
    """The candidate of files that are here."""
    used = target.anatomy.widths.experts_used if target.expert_count else 0
    return Candidate(
        label=target.size_label or target.path.stem,
        quantisation=target.quantisation,
        target=target.anatomy,
        drafter=drafter.anatomy if drafter is not None else None,
        context_limit=target.context_length,
        parameters=target.parameter_count,
        active_parameters=target.active_parameters,
        bytes=target.file_size + (drafter.file_size if drafter is not None else 0),
        experts=target.expert_count,
        experts_used=used,
        expert_parameters=expert_parameters(
            target.parameter_count, target.active_parameters, target.expert_count, used
        ),
        path=target.path,
        drafter_path=drafter.path if drafter is not None else None,
    )


def expert_parameters(parameters: int, active: int, experts: int, used: int) -> int:
    """Parameters of all experts, from those that a token is not multiplied with."""
    if not experts or used >= experts:
        return 0
    return max(0, min(parameters, round((parameters - active) / (1 - used / experts))))

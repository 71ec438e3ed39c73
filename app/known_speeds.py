"""What this machine's speed is known to be, from earlier measurements and runs."""

from __future__ import annotations

from collections.abc import Callable

from gemma_local.app import folders
from gemma_local.engine.hardware.bandwidth import remembered
from gemma_local.engine.hardware.machine import Machine
from gemma_local.engine.plan.candidate import Candidate
from gemma_local.engine.plan.choice import threads_of
from gemma_local.engine.plan.forecast import Correction
from gemma_local.engine.plan.history import History, corrections
from gemma_local.engine.plan.settings import Wishes


def known_bandwidth(machine: Machine, wishes: Wishes) -> float | None:
    """Bytes a second of ordinary memory if that was measured once; nothing is measured here."""
    found = remembered(machine, threads_of(machine, wishes), folders.bandwidth_path())
    return found.bytes_per_second if found is not None else None


def past_runs(machine: Machine, bandwidth: float | None) -> Callable[[Candidate], Correction]:
    """How earlier runs here correct forecasts that are made with this bandwidth."""
    runs = History(folders.history_path()).runs()
    return corrections(runs, machine, has_bandwidth=bandwidth is not None)

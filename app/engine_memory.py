"""The memory that the engine's process has now."""

from __future__ import annotations

from dataclasses import dataclass

import psutil

from gemma_local.engine.hardware.probes import Probes
from gemma_local.engine.hardware.problems import ProbeFailed


@dataclass(frozen=True, slots=True)
class EngineMemory:
    """Bytes. ``resident`` is all that lies in main memory; ``mapped`` the part of it that are pages
    of files, the model's above all, which make way when others need the room. ``device`` is what it
    has of NVIDIA cards. None is what this system does not tell."""

    resident: int
    mapped: int | None = None
    device: int | None = None


def engine_memory(pid: int | None, probes: Probes | None = None) -> EngineMemory | None:
    """What process ``pid`` takes, None where there is none or nobody may ask.

    With ``probes`` the driver is asked about its cards, which can take seconds.
    """
    if pid is None:
        return None
    try:
        found = psutil.Process(pid).memory_info()
    except psutil.Error:
        return None
    return EngineMemory(
        found.rss,
        # Only Linux counts them.
        getattr(found, "shared", None),
        _on_cards(pid, probes) if probes is not None else None,
    )


def _on_cards(pid: int, probes: Probes) -> int | None:
    try:
        answer = probes.run(
            "nvidia-smi", "--query-compute-apps=pid,used_memory", "--format=csv,noheader,nounits"
        )
    except ProbeFailed:
        return None
    taken = [
        int(used) << 20
        for line in (answer or "").splitlines()
        if (cells := [cell.strip() for cell in line.split(",")])[0] == str(pid)
        and (used := cells[-1]).isdigit()
    ]
    return sum(taken) if taken else None

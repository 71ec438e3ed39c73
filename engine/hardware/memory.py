"""How much memory there is, and where models are kept how much room."""

from __future__ import annotations

from pathlib import PurePath

from gemma_local.engine.hardware.cgroup import memory_limit
from gemma_local.engine.hardware.machine import Disk, Memory
from gemma_local.engine.hardware.probes import Probes
from gemma_local.engine.hardware.problems import Problems


def find_memory(probes: Probes, problems: Problems, *, is_linux: bool) -> Memory:
    """The machine's memory and what a container leaves of it."""
    facts = problems.attempt("the machine's memory", probes.memory, None)
    limit = (
        problems.attempt(
            "the container's memory limit", lambda: memory_limit(probes.read_file), None
        )
        if is_linux
        else None
    )
    # A limit above what the machine has is none.
    if limit is not None and facts is not None and limit.limit >= facts.total:
        limit = None
    available = [facts.available] if facts is not None else []
    if limit is not None:
        available.append(limit.left)
    return Memory(
        total=None if facts is None else facts.total,
        available=min(available, default=None),
        limit=None if limit is None else limit.limit,
        limit_used=None if limit is None else limit.used,
        swap_total=None if facts is None else facts.swap_total,
        swap_used=None if facts is None else facts.swap_used,
    )


def find_disk(probes: Probes, store: PurePath) -> Disk:
    """The room at ``store``, or at the nearest folder above it that exists."""
    for folder in (store, *store.parents):
        free = probes.disk_free(str(folder))
        if free is not None:
            return Disk(str(folder), free)
    return Disk(str(store), None)

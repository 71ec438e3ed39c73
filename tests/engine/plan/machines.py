"""Machines to plan for: small ones made up here, and the recorded ones of the hardware tests."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from gemma_local.engine.hardware.detection import detect
from gemma_local.engine.hardware.machine import (
    Accelerator,
    Build,
    Cpu,
    Machine,
    Memory,
    Platform,
    Power,
)
from gemma_local.engine.plan.candidate import Candidate
from gemma_local.engine.plan.published import published
from gemma_local.models.catalog import load_catalog
from tests.engine.hardware import recorded

GIB = 1 << 30


@cache
def candidates() -> tuple[Candidate, ...]:
    """The pairs of the shipped catalog."""
    return tuple(published(load_catalog()))


def candidate(label: str) -> Candidate:
    return next(one for one in candidates() if one.label == label)


def machine(
    *,
    cores: int = 8,
    available: int | None = 28 * GIB,
    total: int | None = 32 * GIB,
    accelerators: tuple[Accelerator, ...] = (),
    system: str = "Linux",
) -> Machine:
    """A machine with AVX2 and what is given."""
    return Machine(
        platform=Platform(system, "A system", "6.1", "x86_64"),
        cpu=Cpu(
            name="A processor",
            architecture="x86_64",
            physical_cores=cores,
            logical_cpus=cores,
            performance_cores=None,
            efficiency_cores=None,
            quota=None,
            usable_cpus=cores,
            usable_cores=cores,
            features=("AVX2", "FMA"),
            lacks=(),
            last_level_cache=None,
        ),
        memory=Memory(total, available, None, None, 0, 0),
        disk=None,
        power=Power(False, False, None, None),
        build=Build(("CPU",), ("AVX2", "FMA", "REPACK"), (), ()),
        accelerators=accelerators,
        idle_accelerators=(),
        problems=(),
    )


def card(gib: float, kind: str = "CUDA", *, number: int = 0, used: float = 0.3) -> Accelerator:
    """A card with so much memory, of which ``used`` GiB are taken."""
    total, free = round(gib * GIB), round((gib - used) * GIB)
    name = f"{kind}{number}"
    return Accelerator(kind, name, f"A card with {gib} GiB", None, False, total, free, free)


def apple(gib: int, free: float) -> Machine:
    """An Apple silicon machine with so much memory, of which ``free`` GiB can be had."""
    usable = round(min(free, gib * 0.75) * GIB)
    device = Accelerator("Metal", "MTL0", "Apple M", None, True, gib * GIB, usable, usable)
    found = machine(
        available=round(free * GIB), total=gib * GIB, accelerators=(device,), system="Darwin"
    )
    return replace(found, platform=replace(found.platform, architecture="arm64"))


def recorded_machine(name: str) -> Machine:
    """A machine of tests/engine/hardware/machines."""
    probes = recorded.machine(name)
    return detect(probes, store=recorded.store(probes))

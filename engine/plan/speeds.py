"""How fast a machine reads memory and multiplies, measured or by its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gemma_local.engine.hardware.machine import Machine
from gemma_local.engine.plan.room import GIB, Device

_CARDS: Final = ((4, 110e9, 2e12), (8, 260e9, 8e12), (12, 400e9, 15e12), (16, 700e9, 25e12),
                 (24, 850e9, 35e12), (48, 1200e9, 50e12), (80, 2000e9, 150e12))  # fmt: skip
"""Up to so many GiB of a card's memory: bytes and floating-point operations a second that cards of
that size have at least about; a start, until a run was measured."""
_LARGEST: Final = (3300e9, 300e12)
_APPLE: Final = ((16, 100e9, 3e12), (24, 130e9, 4e12), (36, 200e9, 6e12), (64, 400e9, 12e12))
"""The same for Apple silicon, by the machine's memory."""
_APPLE_LARGEST: Final = (500e9, 18e12)
_REACHED: Final = 0.65
"""Share of a device's bandwidth that decoding reaches."""
_BUS: Final = 8e9
"""Bytes a second to a card in a slot of a usual machine."""
_CORE: Final = 12e9
_ALL_CORES: Final = {"Darwin": 90e9, "": 40e9}
"""Bytes a second that one core, and all together, read from ordinary memory."""


@dataclass(frozen=True, slots=True)
class Speeds:
    """Bytes and floating-point operations a second; those of the CPU with all ``threads``."""

    host_bytes: float
    host_flops: float
    device_bytes: float
    device_flops: float
    is_measured: bool
    """Whether ``host_bytes`` is."""
    bus_bytes: float = 0.0
    """To a card with memory of its own, 0 without one."""


def speeds_of(
    machine: Machine, device: Device | None, threads: int, bandwidth: float | None
) -> Speeds:
    """What to expect. ``bandwidth`` is that of ordinary memory, None: not measured."""
    most = _ALL_CORES.get(machine.platform.system, _ALL_CORES[""])
    # Another machine's measurement of two threads bounds four of them neither way.
    host = bandwidth or min(threads * _CORE, most)
    host_flops = threads * _core_flops(machine)
    if device is None:
        return Speeds(host, host_flops, host, host_flops, bandwidth is not None)
    total = device.total if device.kind != "Metal" else machine.memory.total
    if device.is_integrated and device.kind != "Metal":
        # It reads the same memory; what it adds is arithmetic.
        return Speeds(host, host_flops, host, max(2 * host_flops, 3e12), bandwidth is not None)
    table, largest = (_APPLE, _APPLE_LARGEST) if device.kind == "Metal" else (_CARDS, _LARGEST)
    # Sizes are told a little below their round number.
    gib = ((total or 0) + GIB // 2) // GIB
    reads, flops = next(((r, f) for size, r, f in table if gib <= size), largest)
    bus = 0.0 if device.is_integrated else _BUS
    return Speeds(host, host_flops, reads * _REACHED, flops, bandwidth is not None, bus)


def _core_flops(machine: Machine) -> float:
    """Of one core with quantised weights, batches of rows. 59e9 was measured with AVX2."""
    features = machine.build.features
    names = set(features if features is not None else machine.cpu.features)
    names -= {*machine.build.missing, *machine.cpu.lacks}
    if names & {"AMX_INT8", "AVX512_VNNI", "AVX_VNNI", "MATMUL_INT8"}:
        return 90e9
    if names & {"AVX2", "DOTPROD"}:
        return 55e9
    return 12e9

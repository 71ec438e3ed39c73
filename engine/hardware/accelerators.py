"""The devices that this build of llama.cpp can compute on, and how much memory to count on."""

from __future__ import annotations

from functools import partial
from typing import Final

from gemma_local.engine.hardware import amd
from gemma_local.engine.hardware.apple import working_set_limit
from gemma_local.engine.hardware.devices import Device
from gemma_local.engine.hardware.machine import Accelerator, Memory, Platform
from gemma_local.engine.hardware.probes import Probes
from gemma_local.engine.hardware.problems import Problems
from gemma_local.engine.hardware.wheels import version

_GIB: Final = 1 << 30
_KINDS: Final = {"MTL": "Metal"}
_CARVE_OUT: Final = 4 * _GIB
"""Firmware sets up to this much aside for integrated graphics that may borrow far more."""
_BORROWS: Final = (6, 10)
"""From this Linux on, ROCm's memory on integrated graphics is not confined to the carve-out."""


def find_accelerators(
    devices: tuple[Device, ...],
    probes: Probes,
    platform: Platform,
    memory: Memory,
    sysctl: dict[str, str],
    problems: Problems,
) -> tuple[Accelerator, ...]:
    """The GPUs among llama.cpp's devices, in its order."""
    found = []
    for device in devices:
        if device.type not in ("GPU", "IGPU"):
            continue
        # Metal calls every device a GPU.
        is_integrated = device.type == "IGPU" or (
            device.backend == "MTL" and platform.architecture == "arm64"
        )
        usable, remark = problems.attempt(
            f"how much memory {device.name} can use",
            partial(_usable, device, is_integrated, probes, platform, memory, sysctl),
            (device.free or None, ""),
        )
        found.append(
            Accelerator(
                kind=_KINDS.get(device.backend, device.backend),
                id=device.name,
                name=device.description,
                pci=device.pci,
                is_integrated=is_integrated,
                total=device.total or None,
                free=device.free if device.total else None,
                usable=usable,
                remark=remark,
            )
        )
    return tuple(found)


def _usable(
    device: Device,
    is_integrated: bool,
    probes: Probes,
    platform: Platform,
    memory: Memory,
    sysctl: dict[str, str],
) -> tuple[int | None, str]:
    """Bytes to plan with, None if unknown, and why they are not those that llama.cpp reports."""
    if not is_integrated:
        # A card whose driver failed reports 0 of 0.
        if not device.total:
            return None, "its driver does not say how much memory it has"
        return min(device.free, device.total), ""
    if device.backend == "MTL" and memory.total is not None:
        limit = working_set_limit(memory.total, sysctl)
        return _at_most(memory, min(limit, device.free) if device.total else limit)
    if platform.system == "Linux" and device.pci:
        shared = amd.amd_memory(probes, device.pci)
        if shared is not None:
            return _amd(device, shared, platform, memory)
    is_carve_out = memory.total is not None and device.total <= min(_CARVE_OUT, memory.total // 2)
    if is_carve_out and memory.total is not None:
        if platform.system == "Windows":
            # Windows lends graphics at most half of the memory ("shared GPU memory").
            usable, _ = _at_most(memory, memory.total // 2)
            return usable, "llama.cpp reports its own memory only; it borrows the machine's"
        if not device.total:
            return memory.available, "it shares the machine's memory"
    return _at_most(memory, device.free)


def _amd(
    device: Device, shared: amd.AmdMemory, platform: Platform, memory: Memory
) -> tuple[int | None, str]:
    own = max(0, shared.carve_out - shared.carve_out_used)
    kernel = version(".".join(platform.kernel.split("-")[0].split(".")[:2]))
    if device.backend == "ROCm" and kernel < _BORROWS:
        return own, "with a Linux before 6.10 ROCm uses only what the firmware set aside for it"
    borrowed, _ = _at_most(memory, max(0, shared.shared - shared.shared_used))
    return own + (borrowed or 0), "its own memory and what it may borrow of the machine's"


def _at_most(memory: Memory, number: int) -> tuple[int, str]:
    """``number``, or what is available where that is less: it is the same memory."""
    if memory.available is not None and memory.available < number:
        return memory.available, "it shares the machine's memory, of which no more is free"
    return number, ""

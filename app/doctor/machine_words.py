"""A machine in words."""

from __future__ import annotations

from gemma_local.engine.hardware.machine import Accelerator, Cpu, Machine
from gemma_local.engine.plan.room import room_of
from gemma_local.models.foreign_file import human_bytes


def processor_words(cpu: Cpu) -> str:
    """Its name, and the cores that compute."""
    cores = f"{cpu.usable_cores} core{'s' * (cpu.usable_cores != 1)} to compute with"
    if cpu.physical_cores is not None and cpu.physical_cores != cpu.usable_cores:
        cores += f" of {cpu.physical_cores}"
    if cpu.performance_cores:
        cores += f", {cpu.performance_cores} of them fast ones"
    return f"{cpu.name or cpu.architecture}, {cores}"


def memory_words(machine: Machine) -> str:
    """What there is of ordinary memory, and what models may take of it."""
    memory, room = machine.memory, room_of(machine)
    if memory.available is None:
        return f"unknown; planned with {human_bytes(room.host)}"
    whole = memory.limit or memory.total or memory.available
    container = " that the container may use" if memory.limit else ""
    return (
        f"{human_bytes(whole)}{container}, {human_bytes(memory.available)} available; models may "
        f"take {human_bytes(room.host)}"
    )


def device_words(device: Accelerator) -> str:
    """A GPU that llama.cpp can use."""
    usable = human_bytes(device.usable) if device.usable is not None else "an unknown amount"
    return f"{device.name} through {device.kind}, {usable} usable"

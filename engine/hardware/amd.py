"""What Linux's amdgpu driver tells of AMD's graphics."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from gemma_local.engine.hardware.probes import Probes

PCI: Final = "/sys/bus/pci/devices"
_NODES: Final = "/sys/class/kfd/kfd/topology/nodes"
# gfx_target_version of those that share the processor's memory: 9.0.12 is gfx90c, 11.5.1 gfx1151.
_INTEGRATED: Final = frozenset(
    {90002, 90009, 90012, 100303, 100305, 100306, 110003, 110500, 110501, 110502, 110503}
)


@dataclass(frozen=True, slots=True)
class AmdMemory:
    """Bytes. ``carve_out`` belongs to the card alone, ``shared`` is the most that it may borrow
    of the machine's memory (GTT)."""

    carve_out: int
    carve_out_used: int
    shared: int
    shared_used: int


def amd_memory(probes: Probes, pci: str) -> AmdMemory | None:
    """The memory of the device at a bus address, None where the driver tells nothing."""
    texts = [
        probes.read_file(f"{PCI}/{pci}/mem_info_{name}")
        for name in ("vram_total", "vram_used", "gtt_total", "gtt_used")
    ]
    numbers = [int(text) for text in texts if text is not None]
    return AmdMemory(*numbers) if len(numbers) == len(texts) else None


def is_integrated(probes: Probes, pci: str) -> bool:
    """Whether AMD's compute driver knows the device as one that shares the processor's memory."""
    for node in probes.list_folder(_NODES):
        properties = dict(
            line.split(maxsplit=1)
            for line in (probes.read_file(f"{_NODES}/{node}/properties") or "").splitlines()
            if " " in line.strip()
        )
        if _address(properties) == pci:
            return int(properties.get("gfx_target_version", "0")) in _INTEGRATED
    return False


def rocm_version(probes: Probes) -> str | None:
    """The installed ROCm's version, such as "7.2.1"; None without one."""
    text = probes.read_file("/opt/rocm/.info/version") or ""
    found = re.match(r"\d+\.\d+(\.\d+)?", text.strip())
    return found.group() if found else None


def _address(properties: dict[str, str]) -> str | None:
    """The bus address: ``location_id`` is bus, device and function in 16 bits."""
    location = int(properties.get("location_id", "0"))
    if not location:
        return None
    domain, device = int(properties.get("domain", "0")), (location >> 3) & 0x1F
    return f"{domain:04x}:{location >> 8 & 0xFF:02x}:{device:02x}.{location & 7}"

"""What NVIDIA's driver tells of its cards."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from gemma_local.engine.hardware.probes import Probes
from gemma_local.engine.hardware.problems import ProbeFailed

_FIELDS: Final = "pci.bus_id,name,memory.total,driver_version"
_WSL: Final = "/usr/lib/wsl/lib/nvidia-smi"


@dataclass(frozen=True, slots=True)
class NvidiaCard:
    """A card. ``total`` is bytes of its memory, None where it has none of its own; ``cuda`` is
    the newest CUDA version that the driver runs, ``capability`` the compute capability."""

    pci: str
    name: str
    total: int | None
    driver: str
    cuda: str | None
    capability: str | None


def nvidia_cards(probes: Probes) -> tuple[NvidiaCard, ...]:
    """The cards that nvidia-smi lists, none where it is not installed.

    Raises ProbeFailed with what it says instead, such as that it cannot reach the driver.
    """
    for program in ("nvidia-smi", _WSL):
        answer = _query(probes, program, f"{_FIELDS},compute_cap")
        if answer is not None and "is not a valid field" in answer:
            # Drivers before 510 do not know the compute capability.
            answer = _query(probes, program, _FIELDS)
        if answer is not None:
            cuda = _cuda(probes.run(program))
            return tuple(_card(line, cuda) for line in answer.splitlines() if line.strip())
    return ()


def _query(probes: Probes, program: str, fields: str) -> str | None:
    return probes.run(program, f"--query-gpu={fields}", "--format=csv,noheader,nounits")


def _cuda(overview: str | None) -> str | None:
    """The version in the head of nvidia-smi's table: "CUDA Version: 12.4"."""
    found = re.search(r"CUDA (?:UMD )?Version\s*:\s*(\d+\.\d+)", overview or "")
    return found.group(1) if found else None


def _card(line: str, cuda: str | None) -> NvidiaCard:
    values = [value.strip() for value in line.split(",")]
    if len(values) not in (4, 5):
        raise ProbeFailed(f"nvidia-smi said: {line.strip()[:200]}")
    pci, name, mebibytes, driver, *capability = values
    return NvidiaCard(
        # nvidia-smi writes eight digits of domain, "00000000:01:00.0"; Linux and ggml write four.
        pci=pci.lower()[-12:],
        name=name,
        # Unified memory is "[N/A]".
        total=int(mebibytes) << 20 if mebibytes.isdigit() else None,
        driver=driver,
        cuda=cuda,
        capability=capability[0] if capability and capability[0][:1].isdigit() else None,
    )

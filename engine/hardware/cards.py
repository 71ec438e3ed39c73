"""The graphics processors that a machine has, whether or not llama.cpp can use them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import Final

from gemma_local.engine.hardware import amd
from gemma_local.engine.hardware.apple import working_set_limit
from gemma_local.engine.hardware.machine import Platform
from gemma_local.engine.hardware.nvidia import NvidiaCard, nvidia_cards
from gemma_local.engine.hardware.probes import Probes
from gemma_local.engine.hardware.problems import Problems

_VENDORS: Final = {"0x10de": "NVIDIA", "0x1002": "AMD", "0x8086": "Intel"}
# PCI classes: display controllers, and processing accelerators such as AMD's Instinct.
_CLASSES: Final = ("0x03", "0x12")
_INTEL_INTEGRATED: Final = "0000:00:02.0"
"""Intel's integrated graphics have had this bus address since they exist."""
_DISPLAYS: Final = (
    r"HKLM\SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}"
)
_WINDOWS_NAMES: Final = {
    "NVIDIA": r"NVIDIA",
    "AMD": r"AMD|ATI |Radeon",
    "Intel": r"Intel",
}


@dataclass(frozen=True, slots=True)
class Card:
    """A graphics processor. ``total`` is bytes, ``driver``, ``cuda`` and ``capability`` as in
    ``NvidiaCard``, None where nothing tells; ``is_answering``: its driver tells of it."""

    vendor: str
    name: str
    pci: str | None = None
    is_integrated: bool = False
    total: int | None = None
    driver: str | None = None
    cuda: str | None = None
    capability: str | None = None
    is_answering: bool = True


def find_cards(
    probes: Probes,
    platform: Platform,
    memory: int | None,
    sysctl: dict[str, str],
    problems: Problems,
) -> tuple[Card, ...]:
    """All cards. ``memory`` is the machine's, in bytes."""
    match platform.system:
        case "Darwin":
            is_apple = platform.is_translated or platform.architecture == "arm64"
            limit = working_set_limit(memory, sysctl) if memory else None
            name = sysctl.get("machdep.cpu.brand_string", "Apple GPU")
            return (Card("Apple", name, None, True, limit),) if is_apple else ()
        case "Linux":
            cards = _pci_cards(probes, problems)
        case "Windows":
            cards = _windows_cards(probes)
        case _:
            return ()
    has_driver = probes.read_file("/proc/driver/nvidia/version") is not None
    if has_driver or platform.is_wsl or any(card.vendor == "NVIDIA" for card in cards):
        known = problems.attempt("NVIDIA's cards", lambda: nvidia_cards(probes), ())
        cards = _with_nvidia(cards, known)
    return tuple(cards)


def _pci_cards(probes: Probes, problems: Problems) -> list[Card]:
    cards = []
    for pci in probes.list_folder(amd.PCI):
        folder = f"{amd.PCI}/{pci}"
        vendor = _VENDORS.get((probes.read_file(f"{folder}/vendor") or "").strip())
        kind = (probes.read_file(f"{folder}/class") or "").strip()
        if vendor is None or not kind.startswith(_CLASSES):
            continue
        if vendor == "AMD":
            cards.append(
                problems.attempt(
                    f"the memory of AMD's graphics at {pci}",
                    partial(_amd_card, probes, pci),
                    Card(vendor, "AMD graphics", pci),
                )
            )
        else:
            is_integrated = pci == _INTEL_INTEGRATED and vendor == "Intel"
            name = _nvidia_name(probes, pci) if vendor == "NVIDIA" else "Intel graphics"
            cards.append(Card(vendor, name, pci, is_integrated, is_answering=vendor != "NVIDIA"))
    return cards


def _amd_card(probes: Probes, pci: str) -> Card:
    name = (probes.read_file(f"{amd.PCI}/{pci}/product_name") or "").strip()
    memory = amd.amd_memory(probes, pci)
    is_integrated = amd.is_integrated(probes, pci)
    total = None
    if memory is not None:
        total = memory.carve_out + (memory.shared if is_integrated else 0)
    return Card("AMD", name or "AMD graphics", pci, is_integrated, total)


def _nvidia_name(probes: Probes, pci: str) -> str:
    text = probes.read_file(f"/proc/driver/nvidia/gpus/{pci}/information") or ""
    found = re.search(r"^Model:\s*(.+)$", text, re.MULTILINE)
    return found.group(1).strip() if found else "NVIDIA card"


def _windows_cards(probes: Probes) -> list[Card]:
    text = probes.run("reg", "query", _DISPLAYS, "/s", "/v", "DriverDesc") or ""
    cards = []
    for name in re.findall(r"^\s*DriverDesc\s+REG_SZ\s+(.+?)\s*$", text, re.MULTILINE):
        for vendor, pattern in _WINDOWS_NAMES.items():
            if re.search(pattern, name):
                is_integrated = vendor != "NVIDIA" and re.search(r"Arc|RX \d|Pro W", name) is None
                cards.append(
                    Card(vendor, name, None, is_integrated, is_answering=vendor != "NVIDIA")
                )
                break
    return cards


def _with_nvidia(cards: list[Card], known: tuple[NvidiaCard, ...]) -> list[Card]:
    """The cards with what NVIDIA's driver knows of its own in place of what the bus tells."""
    if not known:
        return cards
    own = [
        Card(
            vendor="NVIDIA",
            name=card.name,
            pci=card.pci,
            is_integrated=card.total is None,
            total=card.total,
            driver=card.driver,
            cuda=card.cuda,
            capability=card.capability,
        )
        for card in known
    ]
    return [*own, *(card for card in cards if card.vendor != "NVIDIA")]

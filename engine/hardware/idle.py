"""Graphics processors that the machine has and this build of llama.cpp does not use, and what to
install so that it does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gemma_local.engine.hardware import amd, wheels
from gemma_local.engine.hardware.cards import Card
from gemma_local.engine.hardware.machine import (
    Accelerator,
    Advice,
    Build,
    IdleAccelerator,
    Platform,
)
from gemma_local.engine.hardware.probes import Probes

_BACKEND: Final = {"NVIDIA": "CUDA", "AMD": "ROCm", "Apple": "MTL", "Intel": "SYCL"}
_NAMES: Final = {
    "NVIDIA": ("NVIDIA", "GeForce", "Quadro", "Tesla"),
    "AMD": ("AMD", "Radeon"),
    "Intel": ("Intel",),
    "Apple": ("Apple",),
}


def find_idle(
    cards: tuple[Card, ...],
    accelerators: tuple[Accelerator, ...],
    build: Build,
    probes: Probes,
    platform: Platform,
    glibc: str,
) -> tuple[IdleAccelerator, ...]:
    """The cards that no accelerator stands for. At most one of them carries advice, the one that
    is worth the most: each build replaces the other."""
    idle = [card for card in cards if not _is_used(card, accelerators)]
    best = min(idle, key=_rank, default=None)
    found = []
    for card in idle:
        advice: Advice | None = None
        reason = _other_reason(card, best, accelerators, build, platform)
        if wants_build := not reason:
            reason = "this build of llama.cpp is made without support for it"
            try:
                advice = _wheel(card, probes, platform, glibc)
            except wheels.NoWheel as why:
                reason = f"{reason}, and {why}"
            if build.is_unfit:
                advice = None
                reason = "this build of llama.cpp does not even fit the processor"
        found.append(
            IdleAccelerator(
                vendor=card.vendor,
                name=card.name,
                pci=card.pci,
                is_integrated=card.is_integrated,
                total=card.total,
                driver=card.driver,
                cuda=card.cuda,
                reason=reason,
                wants_build=wants_build,
                advice=advice,
            )
        )
    return tuple(found)


def _other_reason(
    card: Card,
    best: Card | None,
    accelerators: tuple[Accelerator, ...],
    build: Build,
    platform: Platform,
) -> str:
    """Why a card idles although another build would not change it, '' if one would."""
    if not build.backends and not build.is_unfit:
        return "llama.cpp could not be asked what it can compute on"
    if accelerators:
        used = accelerators[0]
        return f"llama.cpp computes on {used.name} through {used.kind} instead"
    if card.vendor == "Intel" and card.is_integrated:
        return "it shares the processor's memory and is not faster than it at decoding"
    if best is not None and card is not best:
        return f"{best.name} is the better one"
    if not card.is_answering:
        return _silence(platform)
    if _BACKEND[card.vendor] in build.backends:
        return (
            "this build of llama.cpp could use it, but its driver does not let it: update the "
            "driver and restart the machine"
        )
    return ""


def _is_used(card: Card, accelerators: Iterable[Accelerator]) -> bool:
    """By bus address where both are known, else by the maker's name."""
    for accelerator in accelerators:
        if card.pci is not None and accelerator.pci is not None:
            if card.pci == accelerator.pci:
                return True
        elif accelerator.kind == "CUDA":
            if card.vendor == "NVIDIA":
                return True
        elif any(name in accelerator.name for name in _NAMES[card.vendor]):
            return True
    return False


def _rank(card: Card) -> tuple[bool, bool, int]:
    """Cards with memory of their own first, then NVIDIA's, then the largest."""
    return card.is_integrated, card.vendor != "NVIDIA", -(card.total or 0)


def _silence(platform: Platform) -> str:
    if platform.container:
        return (
            "its driver does not answer in this container: give the container the card, with "
            "docker by --gpus all"
        )
    return "its driver does not answer: install NVIDIA's driver, then look again"


def _wheel(card: Card, probes: Probes, platform: Platform, glibc: str) -> Advice:
    match card.vendor:
        case "NVIDIA":
            return wheels.cuda(platform, glibc, card.cuda, card.capability)
        case "Apple":
            return wheels.metal(platform)
        case "AMD" if wheels.version(amd.rocm_version(probes)) >= (7, 2):
            return wheels.rocm(platform, glibc)
    return wheels.vulkan(platform, glibc)

"""What the installed llama.cpp was compiled for, against what the processor has."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from gemma_local.engine.hardware import wheels
from gemma_local.engine.hardware.devices import DeviceList
from gemma_local.engine.hardware.machine import (
    Accelerator,
    Build,
    Cpu,
    IdleAccelerator,
    Platform,
)

# Those that make decoding or reading a prompt clearly faster. llama.cpp uses SME only through
# KleidiAI, and BMI2 and VBMI hardly matter.
_FASTER: Final = (
    *("AVX", "AVX2", "FMA", "F16C", "AVX_VNNI", "AVX512", "AVX512_VNNI", "AVX512_BF16", "AMX_INT8"),
    *("NEON", "DOTPROD", "MATMUL_INT8", "FP16_VA", "SVE"),
)
_DEVELOPMENT_KITS: Final = {"NVIDIA": "CUDA", "AMD": "Vulkan", "Intel": "Vulkan"}


def compare(devices: DeviceList, cpu: Cpu) -> Build:
    """The build, and whether it fits the processor; advice is for ``advise`` to give."""
    features = cpu_features(devices.system_info)
    return Build(
        backends=devices.backends,
        features=features,
        missing=tuple(name for name in features or () if name in cpu.lacks),
        unused=tuple(name for name in _FASTER if name in cpu.features and name not in features)
        if features is not None
        else (),
        is_broken=devices.is_illegal_instruction,
        problem=devices.problem,
    )


def advise(
    build: Build,
    platform: Platform,
    accelerators: tuple[Accelerator, ...],
    idle: tuple[IdleAccelerator, ...],
) -> Build:
    """The build with advice where another one is worth the trouble.

    A machine gets one piece of advice, as each reinstallation undoes the other: first that
    llama.cpp runs at all, then that it uses the card, then that it uses the whole processor. With
    integrated graphics the processor has nothing to compute.
    """
    graphics = next((name for name in ("CUDA", "ROCm", "Vulkan") if name in build.backends), None)
    if build.is_unfit:
        wanted = next(
            (_DEVELOPMENT_KITS.get(card.vendor) for card in idle if card.wants_build), None
        )
        return replace(build, advice=wheels.source(platform, graphics or wanted))
    is_integrated = bool(accelerators) and all(device.is_integrated for device in accelerators)
    is_advised = any(card.advice is not None for card in idle)
    if not build.unused or is_advised or is_integrated:
        return build
    advice = wheels.source(platform, graphics)
    if accelerators:
        advice = replace(
            advice, note=f"It only speeds up what the card has no room for. {advice.note}"
        )
    return replace(build, advice=advice)


def cpu_features(system_info: str) -> tuple[str, ...] | None:
    """The CPU backend's features in the text of ``llama_print_system_info``, None if it has no
    such part.

    The text is "CPU : AVX = 1 | AVX2 = 1 | ... | CUDA : ARCHS = 750,800 | ...": each backend's name
    and colon stand before its first feature, and only features that are there are named.
    """
    part: str | None = None
    found: list[str] = []
    has_cpu = False
    for item in system_info.split("|"):
        match = re.fullmatch(r"\s*(?:(\w+) : )?\s*(\w+) = (\S+)\s*", item)
        if match is None:
            continue
        part = match.group(1) or part
        has_cpu |= part == "CPU"
        if part == "CPU" and match.group(3) != "0":
            found.append(match.group(2))
    return tuple(found) if has_cpu else None

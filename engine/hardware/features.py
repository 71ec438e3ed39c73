"""The vector extensions of a processor, by the names that llama.cpp's CPU backend uses.

Each system tells them in its own way, and not all of them: what a source cannot tell is neither
present nor lacking.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from gemma_local.engine.hardware.probes import Facts, Probes

# Names of ggml_backend_cpu_get_features, and the flags of Linux's /proc/cpuinfo that they need.
# AVX512 is compiled with all of F, CD, BW, DQ and VL.
_X86_FLAGS: Final[dict[str, tuple[str, ...]]] = {
    "SSE3": ("pni",),
    "SSSE3": ("ssse3",),
    "AVX": ("avx",),
    "AVX_VNNI": ("avx_vnni",),
    "AVX2": ("avx2",),
    "F16C": ("f16c",),
    "FMA": ("fma",),
    "BMI2": ("bmi2",),
    "AVX512": ("avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"),
    "AVX512_VBMI": ("avx512vbmi",),
    "AVX512_VNNI": ("avx512_vnni",),
    "AVX512_BF16": ("avx512_bf16",),
    "AMX_INT8": ("amx_tile", "amx_int8"),
}
_ARM_FLAGS: Final[dict[str, tuple[str, ...]]] = {
    "NEON": ("asimd",),
    "ARM_FMA": ("asimd",),
    "FP16_VA": ("asimdhp",),
    "DOTPROD": ("asimddp",),
    "MATMUL_INT8": ("i8mm",),
    "SVE": ("sve",),
    "SME": ("sme",),
    "SME2": ("sme2",),
}
_APPLE_VALUES: Final[dict[str, str]] = {
    "FP16_VA": "hw.optional.arm.FEAT_FP16",
    "DOTPROD": "hw.optional.arm.FEAT_DotProd",
    "MATMUL_INT8": "hw.optional.arm.FEAT_I8MM",
    "SME": "hw.optional.arm.FEAT_SME",
    "SME2": "hw.optional.arm.FEAT_SME2",
}
# Intel's macOS spells some flags differently.
_APPLE_INTEL: Final = {"sse3": "pni", "avx1.0": "avx", "avx512vnni": "avx512_vnni"}
# Numbers of winnt.h: PF_SSE3_INSTRUCTIONS_AVAILABLE and so on.
_WINDOWS_NUMBERS: Final[dict[str, dict[str, int]]] = {
    "x86_64": {"SSE3": 13, "SSSE3": 36, "AVX": 39, "AVX2": 40, "AVX512": 41},
    "arm64": {"NEON": 19, "DOTPROD": 43, "SVE": 46},
}


@dataclass(frozen=True, slots=True)
class Features:
    """Extensions that a processor has, and those that it surely has not."""

    present: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()


def find_features(
    probes: Probes, facts: Facts, architecture: str, sysctl: dict[str, str]
) -> Features:
    """The extensions of this processor; none of either kind where nothing tells."""
    match facts.system:
        case "Linux":
            flags = _linux_flags(probes.read_file("/proc/cpuinfo") or "")
            return _by_flags(flags, architecture)
        case "Darwin" if architecture == "arm64":
            # Every 64-bit ARM processor of Apple's has NEON; values that are absent are unknown.
            known = {
                name: sysctl[key] == "1" for name, key in _APPLE_VALUES.items() if key in sysctl
            }
            return _split({"NEON": True, "ARM_FMA": True, **known})
        case "Darwin":
            text = " ".join(
                sysctl.get(f"machdep.cpu.{key}", "") for key in ("features", "leaf7_features")
            )
            words = text.lower().split()
            return _by_flags({_APPLE_INTEL.get(word, word) for word in words}, architecture)
        case "Windows" if facts.windows_features is not None:
            numbers = _WINDOWS_NUMBERS.get(architecture, {})
            known = {name: n in facts.windows_features for name, n in numbers.items()}
            if known.get("AVX2"):
                # Windows names no number for these; AMD and Intel never made AVX2 without them.
                known |= {"FMA": True, "F16C": True, "BMI2": True}
            return _split(known)
    return Features()


def _linux_flags(cpuinfo: str) -> set[str]:
    found = re.search(r"^(?:flags|Features)\s*:(.*)$", cpuinfo, re.MULTILINE)
    return set(found.group(1).split()) if found else set()


def _by_flags(flags: set[str], architecture: str) -> Features:
    """What a complete list of flags tells; an empty one tells nothing."""
    names = {"x86_64": _X86_FLAGS, "arm64": _ARM_FLAGS}.get(architecture, {})
    if not flags:
        return Features()
    return _split({name: flags.issuperset(needed) for name, needed in names.items()})


def _split(known: dict[str, bool]) -> Features:
    return Features(
        tuple(name for name, is_present in known.items() if is_present),
        tuple(name for name, is_present in known.items() if not is_present),
    )

"""Which ready-made build of llama-cpp-python fits a machine, and the command that installs it.

The table follows the release workflows of llama-cpp-python 0.3.36: which systems, architectures,
CUDA versions and compute capabilities its wheels are built for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gemma_local.engine.hardware.machine import Advice, Platform

VERSION: Final = "0.3.36"
"""The llama-cpp-python release that gemma-local needs (``engine.runtime.library.REQUIRED``)."""
_INDEX: Final = "https://abetlen.github.io/llama-cpp-python/whl"
_APPLICATION: Final = "gemma-local"

_CUDA: Final = ((13, 2), (13, 0), (12, 5), (12, 4), (12, 3), (12, 2), (12, 1), (11, 8))
_CUDA_LINUX_ONLY: Final = ((12, 3), (12, 2), (12, 1))
_GLIBC: Final = (2, 35)
"""The CUDA and ROCm wheels for Linux are built on Ubuntu 22.04."""


class NoWheel(Exception):
    """There is no ready-made build; the message says why, as the end of a sentence."""


def version(text: str | None) -> tuple[int, ...]:
    """The numbers of a version ("13.0" -> (13, 0)), () for what is none."""
    try:
        return tuple(int(part) for part in (text or "").split("."))
    except ValueError:
        return ()


def cuda(platform: Platform, glibc: str, driver_cuda: str | None, capability: str | None) -> Advice:
    """The wheel for an NVIDIA card: the newest CUDA that driver and card both run.

    ``driver_cuda`` is the newest version that the driver runs, ``capability`` the card's compute
    capability ("8.6"), None if unknown. Raises NoWheel.
    """
    _require_pc(platform)
    runs, can = version(driver_cuda), version(capability)
    if platform.system == "Linux" and version(glibc) < _GLIBC:
        raise NoWheel(f"the ready-made CUDA builds need glibc {_GLIBC[0]}.{_GLIBC[1]} or newer")
    if not runs:
        raise NoWheel("its driver does not say which CUDA version it runs")
    if can and can < (6, 0):
        raise NoWheel(f"its compute capability is {capability}, and builds begin at 6.0")
    fitting = [
        release
        for release in _CUDA
        if release <= runs
        and not (platform.system == "Windows" and release in _CUDA_LINUX_ONLY)
        and not (release[0] >= 13 and can < (7, 5))
        and not (release[0] <= 11 and can > (8, 9))
    ]
    if not fitting:
        raise NoWheel(f"no build runs on CUDA {driver_cuda}: a newer driver is needed")
    major, minor = fitting[0]
    note = (
        f"It needs the libraries of CUDA {major} (cudart and cublas), which come with the toolkit."
    )
    if platform.is_wsl:
        note += " In WSL install the toolkit without a driver: Windows' own is used."
    return _wheel(platform, f"cu{major}{minor}", "CUDA", note)


def vulkan(platform: Platform, glibc: str) -> Advice:
    """The wheel for any card with a Vulkan driver. Raises NoWheel."""
    _require_pc(platform)
    if platform.system == "Linux" and not glibc:
        raise NoWheel("the ready-made builds need glibc")
    note = "It needs a Vulkan driver, which graphics drivers usually bring."
    return _wheel(platform, "vulkan", "Vulkan", note)


def rocm(platform: Platform, glibc: str) -> Advice:
    """The wheel for AMD cards on Linux where ROCm 7.2 is installed. Raises NoWheel.

    There is one for Windows too, for fewer cards than Vulkan serves.
    """
    _require_pc(platform)
    if platform.system != "Linux" or version(glibc) < _GLIBC:
        raise NoWheel("the ready-made ROCm build is for Linux with glibc 2.35 or newer")
    return _wheel(platform, "rocm72", "ROCm", "It needs ROCm 7.2.")


def metal(platform: Platform) -> Advice:
    """The wheel for Apple silicon. Raises NoWheel."""
    if platform.is_translated or platform.architecture != "arm64":
        raise NoWheel("this Python is made for Intel's processors: install one for Apple silicon")
    return _wheel(platform, "metal", "Metal", "")


def source(platform: Platform, backend: str | None = None) -> Advice:
    """A build on this machine for this very processor. ``backend`` ("CUDA", ...) is the one that
    it is to have besides the CPU; on a Mac that is always Metal."""
    tools = "It is compiled here, which needs a C++ compiler and takes 5 to 20 minutes."
    option = {"CUDA": "GGML_CUDA", "ROCm": "GGML_HIP", "Vulkan": "GGML_VULKAN"}.get(backend or "")
    words = f'--no-cache-dir --no-binary=llama-cpp-python "llama-cpp-python=={VERSION}"'
    if option is None:
        return _advice(words, tools)
    before = (
        f'$env:CMAKE_ARGS="-D{option}=on"; '
        if platform.system == "Windows"
        else f'CMAKE_ARGS="-D{option}=on" '
    )
    return _advice(words, f"{tools} It also needs the development kit of {backend}.", before)


def _require_pc(platform: Platform) -> None:
    if platform.system not in ("Linux", "Windows") or platform.architecture != "x86_64":
        raise NoWheel(
            f"there is no ready-made build with it for {platform.system} on {platform.architecture}"
        )


def _wheel(platform: Platform, folder: str, backend: str, note: str) -> Advice:
    # Without a ready-made build pip would silently compile one that cannot use the card.
    advice = _advice(
        f"--only-binary=llama-cpp-python --index-url {_INDEX}/{folder} "
        f'"llama-cpp-python=={VERSION}"',
        note,
    )
    return replace(advice, otherwise=source(platform, backend).pip)


def _advice(words: str, note: str, before: str = "") -> Advice:
    command = f"install --force-reinstall --no-deps {words}"
    return Advice(
        pip=f"{before}python -m pip {command}",
        pipx=f"{before}pipx runpip {_APPLICATION} {command}",
        note=note,
    )

"""Where facts about the machine come from: files of the system, programs, Python, llama.cpp.

Everything is asked through ``Probes``, so that a machine can be recorded and replayed.
"""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import psutil

from gemma_local.engine.hardware.devices import DeviceList, ask_devices
from gemma_local.engine.hardware.problems import ProbeFailed

_LONGEST_FILE: Final = 1 << 20
_TIMEOUT: Final = 3.0
"""Seconds that a program may take. nvidia-smi takes one when it has to wake the card up."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What Python's own libraries tell of system and processor; None where they don't.

    ``version`` is the system's release for people, ``architecture`` as ``platform.machine`` says
    it, ``processor`` Python's name of it. ``affinity`` are the numbers of the logical CPUs that
    this process may run on. ``glibc`` is the C library's version on Linux, '' for another one.
    ``windows_features`` are the numbers that Windows' ``IsProcessorFeaturePresent`` affirms.
    """

    system: str
    version: str
    kernel: str
    architecture: str
    processor: str = ""
    glibc: str = ""
    logical_cpus: int | None = None
    physical_cores: int | None = None
    affinity: tuple[int, ...] | None = None
    windows_features: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class MemoryFacts:
    """What psutil tells of the machine's memory, in bytes."""

    total: int
    available: int
    swap_total: int
    swap_used: int


@dataclass(frozen=True, slots=True)
class Battery:
    """What psutil tells of the battery: ``percent`` 0 to 100, ``on_mains`` None if unknown."""

    percent: float
    on_mains: bool | None


class Probes(Protocol):
    """The questions that can be asked. Any of them may raise; that costs only its answer."""

    def read_file(self, path: str) -> str | None:
        """A small text file's content, None if there is none."""

    def list_folder(self, path: str) -> tuple[str, ...]:
        """Sorted names in a folder, none if there is no such folder."""

    def run(self, *words: str) -> str | None:
        """What a program prints, whatever its exit status; None if it isn't there or is silent."""

    def facts(self) -> Facts:
        """What Python's libraries tell of system and processor."""

    def memory(self) -> MemoryFacts:
        """What psutil tells of memory."""

    def battery(self) -> Battery | None:
        """What psutil tells of the battery, None if there is none or it can't tell."""

    def disk_free(self, path: str) -> int | None:
        """Bytes that this person can still write there, None if there is no such folder."""

    def devices(self) -> DeviceList:
        """What llama.cpp says of its devices and itself."""


class SystemProbes:
    """This machine. ``devices`` tells what llama.cpp computes on; by default a process of its own
    is asked."""

    def __init__(self, devices: Callable[[], DeviceList] = ask_devices) -> None:
        self._ask_devices = devices

    def read_file(self, path: str) -> str | None:
        try:
            with Path(path).open("rb") as file:
                return file.read(_LONGEST_FILE).decode("utf-8", "replace")
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None

    def list_folder(self, path: str) -> tuple[str, ...]:
        try:
            return tuple(sorted(os.listdir(path)))  # noqa: PTH208 - names are what is wanted
        except (FileNotFoundError, NotADirectoryError):
            return ()

    def run(self, *words: str) -> str | None:
        program = shutil.which(words[0])
        # A relative path leads to the working folder, where Windows looks first and where a
        # stranger's repository may lie.
        if program is None or not Path(program).is_absolute():
            return None
        try:
            done = subprocess.run(
                [program, *words[1:]],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "LC_ALL": "C"},
                timeout=_TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise ProbeFailed(f"{words[0]} did not answer within {_TIMEOUT:g} s") from None
        return done.stdout.decode("utf-8", "replace") or None

    def facts(self) -> Facts:
        library, glibc = platform.libc_ver()
        return Facts(
            system=platform.system(),
            version=_version(),
            kernel=platform.release(),
            architecture=platform.machine(),
            # Linux has it in a file; there this starts a program that mostly does not know.
            processor="" if sys.platform == "linux" else platform.processor(),
            glibc=glibc if library == "glibc" else "",
            logical_cpus=psutil.cpu_count(),
            physical_cores=psutil.cpu_count(logical=False),
            affinity=_affinity(),
            windows_features=_windows_features(),
        )

    def memory(self) -> MemoryFacts:
        memory, swap = psutil.virtual_memory(), psutil.swap_memory()
        return MemoryFacts(memory.total, memory.available, swap.total, swap.used)

    def battery(self) -> Battery | None:
        # Not every system's psutil has the function.
        find = getattr(psutil, "sensors_battery", None)
        battery = find() if find is not None else None
        return Battery(float(battery.percent), battery.power_plugged) if battery else None

    def disk_free(self, path: str) -> int | None:
        try:
            return psutil.disk_usage(path).free
        except (FileNotFoundError, NotADirectoryError):
            return None

    def devices(self) -> DeviceList:
        return self._ask_devices()


def _version() -> str:
    """The operating system's name and version as its makers write it."""
    if sys.platform == "darwin":
        return f"macOS {platform.mac_ver()[0]}"
    if sys.platform == "win32":
        return f"Windows {platform.release()} ({platform.version()})"
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    except OSError:
        return "Linux"


def _affinity() -> tuple[int, ...] | None:
    """The CPUs that this process may run on, None where a process can't be bound to some."""
    if sys.platform == "darwin":
        return None
    return tuple(psutil.Process().cpu_affinity() or ())


def _windows_features() -> tuple[int, ...] | None:
    """Which of the ``PF_...`` numbers of winnt.h Windows affirms, None elsewhere."""
    if sys.platform == "win32":
        kernel = ctypes.windll.kernel32
        return tuple(n for n in range(100) if kernel.IsProcessorFeaturePresent(n))
    return None

"""What a machine has: plain facts, None where nobody could tell.

Frozen dataclasses of plain values, so that ``Machine.as_json`` can be kept, compared and shown.
Sizes are bytes, shares are between 0 and 1.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Platform:
    """The operating system and what it runs in.

    ``system`` is "Linux", "Darwin" or "Windows"; ``architecture`` is "x86_64", "arm64" or what
    the system says; ``version`` is a name for people, ``kernel`` the kernel's release.
    ``container`` names the kind of container, ``virtual_machine`` the hypervisor ("unknown": there
    is one). ``is_translated``: this Python is an x86 program on an Apple silicon machine.
    """

    system: str
    version: str
    kernel: str
    architecture: str
    is_wsl: bool = False
    container: str | None = None
    virtual_machine: str | None = None
    is_translated: bool = False


@dataclass(frozen=True, slots=True)
class Cpu:
    """The processor.

    ``physical_cores`` and ``logical_cpus`` are the machine's. ``performance_cores`` and
    ``efficiency_cores`` are physical cores, known only where there are two kinds.
    ``quota`` is the CPU time that a container allows, in CPUs, None: no limit. ``usable_cpus`` is
    what affinity and quota leave of the logical CPUs, ``usable_cores`` how many physical cores
    those are; both at least 1. ``features`` are the vector extensions that it has, ``lacks``
    those that it surely has not, by llama.cpp's names. ``last_level_cache`` is the size of all
    such caches together, in bytes.
    """

    name: str | None
    architecture: str
    physical_cores: int | None
    logical_cpus: int | None
    performance_cores: int | None
    efficiency_cores: int | None
    quota: float | None
    usable_cpus: int
    usable_cores: int
    features: tuple[str, ...]
    lacks: tuple[str, ...]
    last_level_cache: int | None


@dataclass(frozen=True, slots=True)
class Memory:
    """Ordinary memory, in bytes.

    ``available`` is what can be had now without swapping: the operating system's number or what
    is left of a container's ``limit``, whichever is less. ``limit_used`` is what counts against
    that limit, without the page cache that the kernel drops when it needs room.
    """

    total: int | None
    available: int | None
    limit: int | None
    limit_used: int | None
    swap_total: int | None
    swap_used: int | None


@dataclass(frozen=True, slots=True)
class Disk:
    """Where models are kept. ``free`` bytes are left at ``folder``, which exists."""

    folder: str
    free: int | None


@dataclass(frozen=True, slots=True)
class Power:
    """Where the current comes from; None where it can't be told.

    ``percent`` is the battery's charge, 0 to 100. ``saves_power``: the person or the system chose
    a mode in which the processor is slowed down.
    """

    has_battery: bool | None
    on_battery: bool | None
    percent: float | None
    saves_power: bool | None


@dataclass(frozen=True, slots=True)
class Accelerator:
    """A device that llama.cpp can compute on, as it says itself.

    ``kind`` is llama.cpp's name of the backend ("CUDA", "Metal", "Vulkan", "ROCm", "SYCL", ...),
    ``id`` that of the device ("CUDA0"), ``pci`` its bus address where known. ``total`` and
    ``free`` are bytes as llama.cpp reports them. ``usable`` is how many bytes to plan with:
    less where the memory is shared with everything else, more where only a carve-out was reported;
    ``remark`` says why it differs.
    """

    kind: str
    id: str
    name: str
    pci: str | None
    is_integrated: bool
    total: int | None
    free: int | None
    usable: int | None
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Advice:
    """How to reinstall llama-cpp-python. ``pip`` and ``pipx`` are the same command for the two
    ways to install gemma-local; ``note`` is what else to know, in sentences. ``otherwise`` is the
    command for pip that compiles it here, for when there is no ready-made build after all."""

    pip: str
    pipx: str
    note: str = ""
    otherwise: str = ""


@dataclass(frozen=True, slots=True)
class IdleAccelerator:
    """A graphics processor that the machine has and this build of llama.cpp cannot use.

    ``vendor`` is "NVIDIA", "AMD", "Intel" or "Apple". ``total`` is its memory in bytes, if known.
    ``driver`` and ``cuda`` (the newest CUDA version that the driver runs) are version numbers.
    ``reason`` says in a sentence why it idles. ``wants_build``: another build would use it, and it
    is the best of the machine's cards; ``advice`` is None where there is no ready-made one.
    """

    vendor: str
    name: str
    pci: str | None
    is_integrated: bool
    total: int | None
    driver: str | None
    cuda: str | None
    reason: str
    wants_build: bool
    advice: Advice | None


@dataclass(frozen=True, slots=True)
class Build:
    """The installed llama.cpp.

    ``backends`` are its kinds of device, "CPU" among them. ``features`` are what its CPU backend
    was compiled for, None: unknown. ``missing`` of them the CPU lacks: decoding would end with
    an illegal instruction; ``is_broken``: it did so already when it was asked for its devices.
    ``unused`` are extensions that the CPU has and the build does not use: it is slower than it
    could be. ``advice`` repairs either. ``problem`` is why llama.cpp could not be asked.
    """

    backends: tuple[str, ...]
    features: tuple[str, ...] | None
    missing: tuple[str, ...]
    unused: tuple[str, ...]
    is_broken: bool = False
    advice: Advice | None = None
    problem: str = ""

    @property
    def is_unfit(self) -> bool:
        """Whether it is made for another processor, so that no model may be loaded with it."""
        return self.is_broken or bool(self.missing)


@dataclass(frozen=True, slots=True)
class Machine:
    """All of it. ``problems`` says, a sentence each, what could not be found out and why."""

    platform: Platform
    cpu: Cpu
    memory: Memory
    disk: Disk | None
    power: Power
    build: Build
    accelerators: tuple[Accelerator, ...]
    idle_accelerators: tuple[IdleAccelerator, ...]
    problems: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Nested dicts with the fields' names, for ``json.dumps``."""
        return asdict(self)

"""Which logical CPUs are one core, and which cores are the fast ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from gemma_local.engine.hardware.probes import Facts

CPUS: Final = "/sys/devices/system/cpu"
_LITTLE: Final = 0.5
"""A core of less than this share of the largest one's capacity is an efficiency core."""

_MOST_CPUS: Final = 1 << 16

ReadFile = Callable[[str], str | None]


def cpu_list(text: str) -> tuple[int, ...]:
    """The numbers in the kernel's list format, "0-3,8". Raises ValueError for anything else."""
    numbers: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        if int(last or first) >= _MOST_CPUS:
            raise ValueError(f"no machine has a CPU {last or first}"[:80])
        numbers.extend(range(int(first), int(last or first) + 1))
    return tuple(numbers)


def cores(read: ReadFile, cpus: Iterable[int], root: str = CPUS) -> int | None:
    """How many physical cores some logical CPUs are, None where the kernel does not say.

    Two hardware threads of one core share its arithmetic units: computing on both is slower.
    """
    found: set[str] = set()
    for cpu in cpus:
        siblings = read(f"{root}/cpu{cpu}/topology/thread_siblings_list")
        if siblings is None:
            return None
        found.add(siblings.strip())
    return len(found)


def core_kinds(
    read: ReadFile, facts: Facts, sysctl: dict[str, str], architecture: str
) -> tuple[int | None, int | None]:
    """Physical performance and efficiency cores; None for both where all cores are alike."""
    if facts.system == "Darwin":
        levels = [
            int(sysctl[f"hw.perflevel{level}.physicalcpu"])
            for level in range(int(sysctl.get("hw.nperflevels", "0")))
        ]
        return (levels[0], sum(levels[1:])) if len(levels) > 1 else (None, None)
    if facts.system != "Linux":
        return None, None
    # Intel's kernels name the kinds as event sources of perf.
    fast = cpu_list(read("/sys/devices/cpu_core/cpus") or "")
    slow = [
        cpu
        for name in ("cpu_atom", "cpu_lowpower")
        for cpu in cpu_list(read(f"/sys/devices/{name}/cpus") or "")
    ]
    if fast and slow:
        return cores(read, fast) or len(fast), cores(read, slow) or len(slow)
    return _by_capacity(read, facts) if architecture == "arm64" else (None, None)


def _by_capacity(read: ReadFile, facts: Facts) -> tuple[int | None, int | None]:
    """ARM's big and little cores, by the kernel's capacity of each (1024: the fastest), else by
    their highest frequency."""
    for name in ("cpu_capacity", "cpufreq/cpuinfo_max_freq"):
        texts = [read(f"{CPUS}/cpu{n}/{name}") for n in range(facts.logical_cpus or 0)]
        capacities = [int(text) for text in texts if text is not None]
        if capacities and len(capacities) == facts.logical_cpus:
            little = sum(value < _LITTLE * max(capacities) for value in capacities)
            return (len(capacities) - little, little) if little else (None, None)
    return None, None

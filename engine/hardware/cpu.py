"""The processor: its cores, and how many of them this process may use."""

from __future__ import annotations

import re
from typing import Final

from gemma_local.engine.hardware.cgroup import cpu_quota, whole_cpus
from gemma_local.engine.hardware.features import find_features
from gemma_local.engine.hardware.machine import Cpu
from gemma_local.engine.hardware.probes import Facts, Probes
from gemma_local.engine.hardware.problems import Problems
from gemma_local.engine.hardware.system import architecture
from gemma_local.engine.hardware.topology import CPUS, core_kinds, cores

_WINDOWS_CPU: Final = r"HKLM\HARDWARE\DESCRIPTION\System\CentralProcessor\0"
_ARM_NAMES: Final = {"0x41": "Arm", "0x51": "Qualcomm", "0x61": "Apple", "0xc0": "Ampere"}


def find_cpu(probes: Probes, facts: Facts, sysctl: dict[str, str], problems: Problems) -> Cpu:
    """The processor; each unknown part costs a sentence in ``problems``."""
    kind = architecture(facts.architecture)
    name = problems.attempt("the processor's name", lambda: _name(probes, facts, sysctl), None)
    is_linux = facts.system == "Linux"
    quota = (
        problems.attempt("the container's CPU quota", lambda: cpu_quota(probes.read_file), None)
        if is_linux
        else None
    )
    cpus = facts.affinity or tuple(range(facts.logical_cpus or 1))
    usable = whole_cpus(len(cpus), quota)
    own_cores = problems.attempt(
        "which CPUs share a core",
        lambda: cores(probes.read_file, cpus) if is_linux else None,
        None,
    )
    kinds = problems.attempt(
        "the kinds of cores",
        lambda: core_kinds(probes.read_file, facts, sysctl, kind),
        (None, None),
    )
    features = problems.attempt(
        "the processor's instructions",
        lambda: find_features(probes, facts, kind, sysctl),
        None,
    )
    return Cpu(
        name=name,
        architecture=kind,
        physical_cores=facts.physical_cores,
        logical_cpus=facts.logical_cpus,
        performance_cores=kinds[0],
        efficiency_cores=kinds[1],
        quota=quota,
        usable_cpus=usable,
        usable_cores=max(1, min(usable, own_cores or facts.physical_cores or usable)),
        features=features.present if features is not None else (),
        lacks=features.lacking if features is not None else (),
        last_level_cache=problems.attempt(
            "the processor's cache", lambda: _last_level_cache(probes, facts, sysctl), None
        ),
    )


def _name(probes: Probes, facts: Facts, sysctl: dict[str, str]) -> str | None:
    match facts.system:
        case "Linux":
            cpuinfo = probes.read_file("/proc/cpuinfo") or ""
            if found := re.search(r"^model name\s*:\s*(.+)$", cpuinfo, re.MULTILINE):
                return " ".join(found.group(1).split())
            # ARM's kernel writes numbers only; small boards have a name in the device tree.
            if board := probes.read_file("/sys/firmware/devicetree/base/model"):
                return board.strip("\0\n ")
            maker = re.search(r"^CPU implementer\s*:\s*(\S+)$", cpuinfo, re.MULTILINE)
            return _ARM_NAMES.get(maker.group(1)) if maker else None
        case "Darwin":
            return sysctl.get("machdep.cpu.brand_string")
        case "Windows":
            text = probes.run("reg", "query", _WINDOWS_CPU, "/v", "ProcessorNameString")
            found = re.search(r"ProcessorNameString\s+REG_SZ\s+(.+)", text or "")
            return " ".join(found.group(1).split()) if found else facts.processor or None
    return facts.processor or None


def _last_level_cache(probes: Probes, facts: Facts, sysctl: dict[str, str]) -> int | None:
    """Bytes of all caches of the highest level that is told of."""
    if facts.system == "Darwin":
        # Apple's are per cluster of cores; that of the fast ones is by far the largest.
        names = ("hw.l3cachesize", "hw.perflevel0.l2cachesize", "hw.l2cachesize")
        return next((int(sysctl[name]) for name in names if int(sysctl.get(name, "0"))), None)
    for index in (4, 3, 2):
        size = probes.read_file(f"{CPUS}/cpu0/cache/index{index}/size")
        if size and (found := re.fullmatch(r"(\d+)([KM])", size.strip())):
            owners = {
                probes.read_file(f"{CPUS}/cpu{cpu}/cache/index{index}/shared_cpu_list")
                for cpu in range(facts.logical_cpus or 1)
            }
            bytes_each = int(found.group(1)) << (10 if found.group(2) == "K" else 20)
            return bytes_each * max(1, len(owners - {None}))
    return None

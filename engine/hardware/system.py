"""The operating system, and what it runs in."""

from __future__ import annotations

import re
from typing import Final

from gemma_local.engine.hardware.machine import Platform
from gemma_local.engine.hardware.probes import Facts, Probes

_ARCHITECTURES: Final = {"amd64": "x86_64", "x64": "x86_64", "aarch64": "arm64"}
_CONTAINERS: Final = ("docker", "podman", "kubepods", "lxc", "containerd")
_HYPERVISORS: Final = {
    "QEMU": "QEMU",
    "KVM": "KVM",
    "VMware": "VMware",
    "innotek": "VirtualBox",
    "VirtualBox": "VirtualBox",
    "Xen": "Xen",
    "Parallels": "Parallels",
    "Amazon EC2": "Amazon EC2",
    "Google Compute": "Google Compute Engine",
    "Virtual Machine": "Hyper-V",
}


def architecture(name: str) -> str:
    """One name for each architecture: "x86_64", "arm64", else the name in small letters."""
    lowered = name.lower()
    return _ARCHITECTURES.get(lowered, lowered)


def find_platform(probes: Probes, facts: Facts, sysctl: dict[str, str]) -> Platform:
    """The platform. ``sysctl`` are the values of macOS, none elsewhere."""
    # WSL 2's kernel is called like "5.15.167.4-microsoft-standard-WSL2".
    is_wsl = facts.system == "Linux" and "microsoft" in facts.kernel.lower()
    return Platform(
        system=facts.system,
        version=facts.version,
        kernel=facts.kernel,
        architecture=architecture(facts.architecture),
        is_wsl=is_wsl,
        container=_container(probes) if facts.system == "Linux" else None,
        virtual_machine="Hyper-V" if is_wsl else _virtual_machine(probes, facts, sysctl),
        is_translated=sysctl.get("sysctl.proc_translated") == "1",
    )


def _container(probes: Probes) -> str | None:
    if probes.read_file("/.dockerenv") is not None:
        return "docker"
    if probes.read_file("/run/.containerenv") is not None:
        return "podman"
    # systemd writes the name of whatever runs it.
    if name := (probes.read_file("/run/systemd/container") or "").strip():
        return name
    groups = probes.read_file("/proc/self/cgroup") or ""
    found = next((name for name in _CONTAINERS if name in groups), None)
    return "kubernetes" if found == "kubepods" else found


def _virtual_machine(probes: Probes, facts: Facts, sysctl: dict[str, str]) -> str | None:
    if facts.system == "Darwin":
        return "unknown" if sysctl.get("kern.hv_vmm_present") == "1" else None
    if facts.system != "Linux":
        return None
    firmware = " ".join(
        probes.read_file(f"/sys/class/dmi/id/{name}") or ""
        for name in ("sys_vendor", "product_name")
    )
    for sign, name in _HYPERVISORS.items():
        if sign in firmware:
            return name
    cpuinfo = probes.read_file("/proc/cpuinfo") or ""
    return "unknown" if re.search(r"^flags\s*:.*\bhypervisor\b", cpuinfo, re.MULTILINE) else None

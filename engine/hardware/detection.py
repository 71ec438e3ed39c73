"""Finding out what a machine has."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import PurePath
from typing import Final

from gemma_local.engine.hardware.accelerators import find_accelerators
from gemma_local.engine.hardware.build import advise, compare
from gemma_local.engine.hardware.cards import find_cards
from gemma_local.engine.hardware.cpu import find_cpu
from gemma_local.engine.hardware.devices import DeviceList
from gemma_local.engine.hardware.idle import find_idle
from gemma_local.engine.hardware.machine import Machine, Platform, Power
from gemma_local.engine.hardware.memory import find_disk, find_memory
from gemma_local.engine.hardware.power import find_power
from gemma_local.engine.hardware.probes import Facts, Probes, SystemProbes
from gemma_local.engine.hardware.problems import Problems
from gemma_local.engine.hardware.sysctl import read_sysctl
from gemma_local.engine.hardware.system import architecture, find_platform

_UNKNOWN: Final = Facts("unknown", "unknown", "unknown", "unknown")


def detect(probes: Probes | None = None, *, store: PurePath | None = None) -> Machine:
    """What this machine has; never raises.

    ``probes`` answer the questions, None: this machine itself. ``store`` is the folder where
    models are or will be kept, for the room on its disk. Takes as long as the process that asks
    llama.cpp for its devices: a quarter of a second, seconds where a card has to wake up.
    """
    probes = probes or SystemProbes()
    problems = Problems()
    # llama.cpp takes the longest, in a process of its own.
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(probes.devices)
        facts = problems.attempt("the operating system", probes.facts, _UNKNOWN)
        sysctl: dict[str, str] = {}
        if facts.system == "Darwin":
            sysctl = problems.attempt("macOS' system values", lambda: read_sysctl(probes), sysctl)
        platform = problems.attempt(
            "what the operating system runs in",
            lambda: find_platform(probes, facts, sysctl),
            Platform(facts.system, facts.version, facts.kernel, architecture(facts.architecture)),
        )
        cpu = find_cpu(probes, facts, sysctl, problems)
        memory = find_memory(probes, problems, is_linux=facts.system == "Linux")
        disk = problems.attempt(
            "the room on the disk",
            lambda: find_disk(probes, store) if store is not None else None,
            None,
        )
        power = problems.attempt(
            "the power supply", lambda: find_power(probes, facts), Power(None, None, None, None)
        )
        devices = problems.attempt("llama.cpp's devices", asked.result, DeviceList())
    if devices.problem:
        problems.add(devices.problem)
    accelerators = problems.attempt(
        "the accelerators",
        lambda: find_accelerators(devices.devices, probes, platform, memory, sysctl, problems),
        (),
    )
    cards = problems.attempt(
        "the graphics processors",
        lambda: find_cards(probes, platform, memory.total, sysctl, problems),
        (),
    )
    build = compare(devices, cpu)
    idle = problems.attempt(
        "what the idle graphics processors need",
        lambda: find_idle(cards, accelerators, build, probes, platform, facts.glibc),
        (),
    )
    return Machine(
        platform=platform,
        cpu=cpu,
        memory=memory,
        disk=disk,
        power=power,
        build=advise(build, platform, accelerators, idle),
        accelerators=accelerators,
        idle_accelerators=idle,
        problems=problems.sentences,
    )

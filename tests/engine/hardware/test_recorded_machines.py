"""Machines from a small virtual one to a large Apple one: what is found out of each."""

from __future__ import annotations

from typing import Any

import pytest

from gemma_local.engine.hardware.detection import detect
from gemma_local.engine.hardware.machine import Machine
from tests.engine.hardware.recorded import NAMES, found, golden, machine, store

MIB = 1 << 20
GIB = 1 << 30


def known(name: str) -> Machine:
    probes = machine(name)
    return detect(probes, store=store(probes))


@pytest.mark.parametrize("name", NAMES)
def test_all_that_is_found_out(name: str) -> None:
    assert found(name) == golden(name)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_failed_and_the_numbers_fit_together(name: str) -> None:
    got = known(name)
    assert got.problems == ()
    assert got.cpu.name
    assert got.disk is not None and got.disk.free
    assert got.memory.total is not None and got.memory.available is not None
    assert 0 < got.memory.available <= got.memory.total
    assert 1 <= got.cpu.usable_cores <= got.cpu.usable_cpus <= (got.cpu.logical_cpus or 0)
    assert not set(got.cpu.features) & set(got.cpu.lacks)
    for device in got.accelerators:
        assert device.usable and device.usable <= got.memory.total + (device.total or 0)


@pytest.mark.parametrize("name", NAMES)
def test_at_most_one_piece_of_advice_each_undoes_the_other(name: str) -> None:
    got = known(name)
    advice = [got.build.advice, *(card.advice for card in got.idle_accelerators)]
    assert sum(one is not None for one in advice) <= 1


@pytest.mark.parametrize(
    ("name", "cpus", "cores", "kinds"),
    [
        ("virtual-machine-2-cores", 2, 2, (None, None)),
        ("laptop-8gb-hybrid", 12, 10, (2, 8)),
        ("two-nvidia-cards", 32, 24, (8, 16)),
        ("macbook-air-m2-16gb", 8, 8, (4, 4)),
        ("macbook-pro-m4-max-64gb", 16, 16, (12, 4)),
        ("amd-apu", 16, 8, (None, None)),
        ("container-cgroup-v1", 3, 3, (None, None)),
        ("container-cgroup-v2", 1, 1, (None, None)),
    ],
)
def test_cores(name: str, cpus: int, cores: int, kinds: tuple[int | None, int | None]) -> None:
    cpu = known(name).cpu
    assert (cpu.usable_cpus, cpu.usable_cores) == (cpus, cores)
    assert (cpu.performance_cores, cpu.efficiency_cores) == kinds


def test_two_groups_of_cores_have_two_caches() -> None:
    assert known("nvidia-24gb-cpu-build").cpu.last_level_cache == 64 * MIB
    assert known("nvidia-8gb").cpu.last_level_cache == 32 * MIB


def test_cached_files_do_not_count_as_used_in_a_container() -> None:
    # 3.7 GiB of 4 count against the limit, of which 3.0 are files that the kernel can drop.
    memory = known("container-cgroup-v2").memory
    assert memory.limit == 4 * GIB
    assert memory.available is not None and memory.available > 3.2 * GIB
    older = known("container-cgroup-v1").memory
    assert older.limit == 8 * GIB
    assert older.available is not None and older.available > 7.2 * GIB


def test_a_limit_above_the_machine_s_memory_is_none() -> None:
    probes = machine("container-cgroup-v2")
    probes.files["/sys/fs/cgroup/memory.max"] = f"{probes.known_memory.total}\n"
    memory = detect(probes).memory
    assert memory.limit is None and memory.limit_used is None
    assert memory.available == probes.known_memory.available


@pytest.mark.parametrize(
    ("name", "usable"),
    [
        ("nvidia-8gb", 6990 * MIB),
        # Metal would give two thirds of the memory, but other programs have most of it.
        ("macbook-air-m2-16gb", 6 * GIB),
        # Raised to 56 GiB by iogpu.wired_limit_mb, of which 50 are free.
        ("macbook-pro-m4-max-64gb", 50 * GIB),
        # The carve-out of 512 MiB is what llama.cpp reports.
        ("amd-apu", (512 - 384) * MIB + 15731986432 - 734003200),
    ],
)
def test_memory_of_accelerators(name: str, usable: int) -> None:
    assert known(name).accelerators[0].usable == usable


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("nvidia-12gb-cpu-build", "whl/cu125"),
        ("nvidia-24gb-cpu-build", "whl/cu130"),
        ("windows-laptop-nvidia", "whl/cu124"),
        ("wsl2-nvidia", "whl/cu125"),
    ],
)
def test_an_idle_card_comes_with_the_command_that_puts_it_to_work(name: str, folder: str) -> None:
    card, *others = known(name).idle_accelerators
    assert card.vendor == "NVIDIA" and card.advice is not None
    for command in (card.advice.pip, card.advice.pipx):
        assert f"/{folder} " in command and command.endswith('"llama-cpp-python==0.3.36"')
    assert card.advice.pipx.startswith("pipx runpip gemma-local install ")
    # The index has been empty for a day before now.
    assert "-DGGML_CUDA=on" in card.advice.otherwise
    assert "--no-binary=llama-cpp-python" in card.advice.otherwise
    assert all(other.advice is None and other.reason for other in others)


def test_wsl_is_told_to_leave_the_driver_alone() -> None:
    got = known("wsl2-nvidia")
    assert got.platform.is_wsl
    advice = got.idle_accelerators[0].advice
    assert advice is not None and "without a driver" in advice.note


def test_a_build_for_another_processor_is_found_before_it_crashes() -> None:
    build = known("without-avx2").build
    assert build.is_unfit and build.missing == ("AVX2", "F16C", "FMA", "BMI2")
    assert build.advice is not None and "--no-binary=llama-cpp-python" in build.advice.pip


def test_what_a_cuda_wheel_leaves_unused_is_named() -> None:
    build = known("nvidia-8gb").build
    assert not build.is_unfit and build.unused == ("AVX2", "FMA", "F16C")
    assert build.advice is not None
    assert build.advice.pip.startswith('CMAKE_ARGS="-DGGML_CUDA=on" python -m pip install ')


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("laptop-8gb-hybrid", (True, True, 63.0, True)),
        ("amd-apu", (True, False, 88.0, False)),
        ("macbook-air-m2-16gb", (True, True, 41, True)),
        ("macbook-pro-m4-max-64gb", (True, False, 100, False)),
        ("windows-laptop-nvidia", (True, False, 74, None)),
        # A wireless mouse has a battery, the desktop has none.
        ("nvidia-8gb", (False, False, None, None)),
    ],
)
def test_power(name: str, expected: tuple[Any, ...]) -> None:
    power = known(name).power
    assert (power.has_battery, power.on_battery, power.percent, power.saves_power) == expected


@pytest.mark.parametrize(
    ("name", "container", "virtual_machine"),
    [
        ("virtual-machine-2-cores", None, "QEMU"),
        ("container-cgroup-v1", "docker", None),
        ("container-cgroup-v2", "docker", None),
        ("wsl2-nvidia", None, "Hyper-V"),
        ("amd-apu", None, None),
    ],
)
def test_what_it_runs_in(name: str, container: str | None, virtual_machine: str | None) -> None:
    platform = known(name).platform
    assert (platform.container, platform.virtual_machine) == (container, virtual_machine)


def test_the_room_is_that_of_the_nearest_folder_that_exists() -> None:
    disk = known("windows-laptop-nvidia").disk
    assert disk is not None and disk.folder == r"C:\Users\kim" and disk.free == 310311723008

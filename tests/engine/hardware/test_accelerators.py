"""Memory to plan with, where drivers report too much, too little or nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gemma_local.engine.hardware import amd
from gemma_local.engine.hardware.apple import working_set_limit
from gemma_local.engine.hardware.detection import detect
from gemma_local.engine.hardware.devices import Device
from gemma_local.engine.hardware.machine import Accelerator
from tests.engine.hardware.recorded import RecordedProbes, machine

MIB = 1 << 20
GIB = 1 << 30


def only(probes: RecordedProbes, **changes: object) -> Accelerator:
    """The one accelerator of a machine, with changes to its device."""
    device, *rest = probes.known_devices.devices
    changed = replace(device, **changes)  # type: ignore[arg-type]
    probes.known_devices = replace(probes.known_devices, devices=(changed, *rest))
    (found,) = detect(probes).accelerators
    return found


def test_a_card_whose_driver_reports_nothing_is_not_planned_with() -> None:
    found = only(machine("nvidia-8gb"), total=0, free=0)
    assert (found.total, found.free, found.usable) == (None, None, None)
    assert "does not say" in found.remark


def test_more_free_than_there_is_counts_as_all() -> None:
    assert only(machine("nvidia-8gb"), free=99 * GIB).usable == 7841 * MIB


def test_rocm_on_an_older_kernel_has_the_carve_out_only() -> None:
    probes = machine("amd-apu")
    probes.known = replace(probes.known, kernel="6.8.0-48-generic")
    found = only(probes, backend="ROCm", name="ROCm0")
    assert found.usable == (512 - 384) * MIB and "6.10" in found.remark
    probes.known = replace(probes.known, kernel="6.14.3")
    (found,) = detect(probes).accelerators
    assert found.usable is not None and found.usable > 14 * GIB


def test_what_integrated_graphics_may_borrow_is_not_more_than_is_free() -> None:
    probes = machine("amd-apu")
    probes.known_memory = replace(probes.known_memory, available=3 * GIB)
    assert only(probes).usable == 3 * GIB + 128 * MIB


def test_windows_lends_integrated_graphics_half_of_the_memory() -> None:
    probes = machine("windows-laptop-nvidia")
    device = Device(
        "Vulkan", "Vulkan0", "AMD Radeon(TM) 780M Graphics", "IGPU", 512 * MIB, 400 * MIB
    )
    probes.known_devices = replace(probes.known_devices, devices=(device,))
    found = only(probes)
    assert found.usable == probes.known_memory.total // 2
    assert "borrows" in found.remark


@pytest.mark.parametrize(("total", "free"), [(0, 0), (120 * GIB, 119 * GIB), (120 * GIB, 90 * GIB)])
def test_a_card_that_shares_all_memory_gets_no_more_than_is_free(total: int, free: int) -> None:
    # NVIDIA's GB10: nvidia-smi says [N/A], CUDA reports the machine's memory or nothing.
    probes = machine("nvidia-8gb")
    probes.known_memory = replace(probes.known_memory, total=128 * GIB, available=100 * GIB)
    found = only(probes, type="IGPU", total=total, free=free, pci="000f:01:00.0")
    assert found.is_integrated
    assert found.usable == (90 if free == 90 * GIB else 100) * GIB


def test_a_container_s_limit_holds_for_shared_memory_too() -> None:
    probes = machine("amd-apu")
    probes.files["/proc/self/cgroup"] = "0::/\n"
    probes.files["/sys/fs/cgroup/memory.max"] = f"{2 * GIB}\n"
    probes.files["/sys/fs/cgroup/memory.current"] = f"{GIB}\n"
    assert only(probes).usable == GIB + 128 * MIB


@pytest.mark.parametrize(
    ("gigabytes", "limit"),
    [(8, 5461), (16, 10922), (24, 16384), (32, 21845), (36, 27648), (128, 98304)],
)
def test_apple_s_own_share(gigabytes: int, limit: int) -> None:
    # Metal's recommendedMaxWorkingSetSize on these machines, in MiB.
    assert working_set_limit(gigabytes * GIB, {}) // MIB == limit
    assert working_set_limit(gigabytes * GIB, {"iogpu.wired_limit_mb": "0"}) // MIB == limit


def test_apple_s_limit_can_be_chosen_but_not_above_the_memory() -> None:
    assert working_set_limit(16 * GIB, {"iogpu.wired_limit_mb": "14336"}) == 14 * GIB
    assert working_set_limit(16 * GIB, {"iogpu.wired_limit_mb": "99999"}) == 16 * GIB


def test_the_least_of_apple_s_limit_what_metal_has_left_and_what_is_free() -> None:
    def usable(free: int, total: int = 11 * GIB) -> int | None:
        probes = machine("macbook-air-m2-16gb")
        probes.known_memory = replace(probes.known_memory, available=15 * GIB)
        return only(probes, free=free, total=total).usable

    assert usable(7 * GIB) == 7 * GIB
    assert usable(14 * GIB) == 16 * GIB * 2 // 3
    # Metal that tells nothing.
    assert usable(0, 0) == 16 * GIB * 2 // 3


@pytest.mark.parametrize(
    ("pci", "location"), [("0000:c1:00.0", 49408), ("0000:00:05.0", 40), ("0001:03:02.1", 785)]
)
def test_amd_s_compute_driver_knows_devices_by_their_address(pci: str, location: int) -> None:
    probes = machine("virtual-machine-2-cores")
    folder = "/sys/class/kfd/kfd/topology/nodes"
    probes.files[f"{folder}/0/properties"] = "cpu_cores_count 16\nlocation_id 0\n"
    domain = int(pci[:4])
    for version, integrated in ((110003, True), (110000, False)):
        probes.files[f"{folder}/1/properties"] = (
            f"simd_count 24\nlocation_id {location}\ndomain {domain}\n"
            f"gfx_target_version {version}\n"
        )
        assert amd.is_integrated(probes, pci) is integrated
        assert not amd.is_integrated(probes, "0000:ff:1f.7")


def test_helpers_of_the_cpu_are_no_accelerators() -> None:
    found = detect(machine("macbook-air-m2-16gb"))
    assert [device.id for device in found.accelerators] == ["MTL0"]

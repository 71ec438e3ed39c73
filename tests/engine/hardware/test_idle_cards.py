"""Cards that llama.cpp does not use: why, and which command changes it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gemma_local.engine.hardware import wheels
from gemma_local.engine.hardware.detection import detect
from gemma_local.engine.hardware.devices import DeviceList
from gemma_local.engine.hardware.machine import IdleAccelerator, Platform
from gemma_local.engine.hardware.nvidia import nvidia_cards
from tests.engine.hardware.recorded import RecordedProbes, machine

LINUX = Platform("Linux", "Ubuntu 24.04", "6.8", "x86_64")
WINDOWS = Platform("Windows", "Windows 11", "11", "x86_64")
QUERY = "nvidia-smi --query-gpu=pci.bus_id,name,memory.total,driver_version"
FORMAT = "--format=csv,noheader,nounits"


def first(probes: RecordedProbes) -> IdleAccelerator:
    return detect(probes).idle_accelerators[0]


@pytest.mark.parametrize(
    ("platform", "cuda", "capability", "folder"),
    [
        (LINUX, "11.8", "8.6", "cu118"),
        (LINUX, "12.0", "8.6", "cu118"),
        (LINUX, "12.2", "8.6", "cu122"),
        (WINDOWS, "12.2", "8.6", "cu118"),
        (WINDOWS, "12.4", "8.6", "cu124"),
        (LINUX, "12.9", "8.6", "cu125"),
        (LINUX, "13.0", "8.6", "cu130"),
        (LINUX, "13.1", "12.0", "cu130"),
        (LINUX, "14.0", "12.0", "cu132"),
        # CUDA 13 knows no card before Turing, 11.8 none after Ada.
        (LINUX, "13.0", "6.1", "cu125"),
        (LINUX, "13.0", "7.0", "cu125"),
        (LINUX, "13.0", "7.5", "cu130"),
        # Of unknown age: one that runs on all of them.
        (LINUX, "13.0", None, "cu125"),
        (LINUX, "12.4", None, "cu124"),
    ],
)
def test_the_newest_build_that_driver_and_card_run(
    platform: Platform, cuda: str, capability: str | None, folder: str
) -> None:
    assert f"/whl/{folder} " in wheels.cuda(platform, "2.39", cuda, capability).pip


@pytest.mark.parametrize(
    ("platform", "glibc", "cuda", "capability", "why"),
    [
        (LINUX, "2.39", "11.4", "7.5", "newer driver"),
        (LINUX, "2.39", "12.0", "9.0", "newer driver"),
        (LINUX, "2.39", "12.4", "5.2", "compute capability is 5.2"),
        (LINUX, "2.39", None, "8.6", "does not say"),
        (LINUX, "2.31", "12.4", "8.6", "glibc 2.35"),
        (LINUX, "", "12.4", "8.6", "glibc"),
        (replace(LINUX, architecture="arm64"), "2.39", "13.0", "12.1", "Linux on arm64"),
    ],
)
def test_no_command_where_there_is_no_build(
    platform: Platform, glibc: str, cuda: str | None, capability: str | None, why: str
) -> None:
    with pytest.raises(wheels.NoWheel, match=why):
        wheels.cuda(platform, glibc, cuda, capability)


def test_the_reason_says_why_there_is_no_command() -> None:
    probes = machine("nvidia-12gb-cpu-build")
    probes.known = replace(probes.known, architecture="aarch64")
    card = first(probes)
    assert card.advice is None and card.wants_build
    assert card.reason.endswith("no ready-made build with it for Linux on arm64")


def test_a_card_that_the_container_was_not_given() -> None:
    probes = machine("nvidia-12gb-cpu-build")
    probes.commands.clear()
    probes.files["/.dockerenv"] = ""
    card = first(probes)
    assert "--gpus all" in card.reason and card.advice is None
    # The kernel's driver tells its name even so.
    assert card.name == "NVIDIA GeForce RTX 3060"


def test_a_driver_that_does_not_answer_is_quoted() -> None:
    probes = machine("nvidia-12gb-cpu-build")
    said = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."
    probes.commands = dict.fromkeys(probes.commands, said + "\n")
    got = detect(probes)
    (problem,) = got.problems
    assert said in problem
    assert "install NVIDIA's driver" in got.idle_accelerators[0].reason


def test_an_older_driver_that_does_not_know_the_compute_capability() -> None:
    probes = machine("nvidia-12gb-cpu-build")
    probes.commands = {
        f"{QUERY},compute_cap {FORMAT}": 'Field "compute_cap" is not a valid field to query.\n\n',
        f"{QUERY} {FORMAT}": "00000000:2B:00.0, NVIDIA GeForce GTX 1080, 8119, 470.256.02\n",
        "nvidia-smi": "| NVIDIA-SMI 470.256.02  Driver Version: 470.256.02  CUDA Version: 11.4 |",
    }
    (card,) = nvidia_cards(probes)
    assert (card.capability, card.cuda, card.total) == (None, "11.4", 8119 << 20)
    assert card.pci == "0000:2b:00.0"


def test_unified_memory_is_not_a_number() -> None:
    probes = machine("nvidia-12gb-cpu-build")
    line = "0000000F:01:00.0, NVIDIA GB10, [N/A], 580.95.05, 12.1\n"
    probes.commands[f"{QUERY},compute_cap {FORMAT}"] = line
    (card,) = nvidia_cards(probes)
    assert card.total is None and card.pci == "000f:01:00.0"
    assert first(probes).is_integrated


def test_a_build_with_cuda_that_finds_no_card_is_not_to_be_replaced() -> None:
    probes = machine("nvidia-8gb")
    known = probes.known_devices
    probes.known_devices = replace(known, devices=known.devices[1:])
    card = first(probes)
    assert card.advice is None and "update the driver" in card.reason


def test_when_llama_cpp_could_not_be_asked_nothing_is_said_of_its_build() -> None:
    probes = machine("nvidia-12gb-cpu-build")
    probes.known_devices = DeviceList(problem="llama-cpp-python is not installed")
    card = first(probes)
    assert card.advice is None and "could not be asked" in card.reason


def amd_desktop() -> RecordedProbes:
    """A desktop with a Radeon card and a build for the CPU alone."""
    probes = machine("nvidia-12gb-cpu-build")
    probes.commands.clear()
    probes.files = {
        name: text
        for name, text in probes.files.items()
        if "nvidia" not in name and "pci" not in name
    }
    folder = "/sys/bus/pci/devices/0000:03:00.0"
    probes.files |= {f"{folder}/vendor": "0x1002\n", f"{folder}/class": "0x030000\n"}
    for name, number in (("vram", 17163091968), ("gtt", 16000000000)):
        probes.files |= {
            f"{folder}/mem_info_{name}_total": f"{number}\n",
            f"{folder}/mem_info_{name}_used": "1000000\n",
        }
    return probes


def test_a_radeon_card_gets_vulkan_and_with_rocm_installed_rocm() -> None:
    probes = amd_desktop()
    card = first(probes)
    assert not card.is_integrated and card.total == 17163091968
    assert card.advice is not None and "/whl/vulkan " in card.advice.pip
    probes.files["/opt/rocm/.info/version"] = "7.2.1-81\n"
    advice = first(probes).advice
    assert advice is not None and "/whl/rocm72 " in advice.pip
    probes.files["/opt/rocm/.info/version"] = "6.4.0-47\n"
    advice = first(probes).advice
    assert advice is not None and "/whl/vulkan " in advice.pip


def test_an_intel_card_of_its_own_gets_vulkan() -> None:
    probes = amd_desktop()
    probes.files["/sys/bus/pci/devices/0000:03:00.0/vendor"] = "0x8086\n"
    card = first(probes)
    assert card.vendor == "Intel" and not card.is_integrated
    assert card.advice is not None and "/whl/vulkan " in card.advice.pip


def mac(*, is_translated: bool) -> RecordedProbes:
    """A Mac with a build for the CPU alone, with a Python for Apple silicon or one for Intel."""
    probes = machine("macbook-air-m2-16gb")
    probes.known_devices = replace(probes.known_devices, devices=(), backends=("CPU",))
    if is_translated:
        probes.known = replace(probes.known, architecture="x86_64")
        probes.commands = {
            words: text.replace("sysctl.proc_translated: 0", "sysctl.proc_translated: 1")
            for words, text in probes.commands.items()
        }
    return probes


def test_apple_silicon_with_a_build_for_the_cpu_alone() -> None:
    card = first(mac(is_translated=False))
    assert card.vendor == "Apple" and card.advice is not None
    assert "/whl/metal " in card.advice.pip and "CMAKE_ARGS" not in card.advice.otherwise


def test_a_python_for_intel_on_apple_silicon_has_to_go_first() -> None:
    probes = mac(is_translated=True)
    assert detect(probes).platform.is_translated
    card = first(probes)
    assert card.advice is None and "install one for Apple silicon" in card.reason


def test_windows_graphics_without_nvidia() -> None:
    probes = machine("windows-laptop-nvidia")
    (words,) = [words for words in probes.commands if "DriverDesc" in words]
    probes.commands[words] = "    DriverDesc    REG_SZ    AMD Radeon RX 7800 XT\r\n"
    card = first(probes)
    assert (card.vendor, card.name, card.is_integrated) == ("AMD", "AMD Radeon RX 7800 XT", False)
    assert card.advice is not None and "/whl/vulkan " in card.advice.pip

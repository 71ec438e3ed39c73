"""What llama.cpp was compiled for against what the processor has, from each system's own words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gemma_local.engine.hardware.build import cpu_features
from gemma_local.engine.hardware.detection import detect
from gemma_local.engine.hardware.devices import DeviceList
from gemma_local.engine.hardware.machine import Machine
from gemma_local.engine.hardware.probes import Facts
from gemma_local.engine.hardware.wheels import VERSION
from gemma_local.engine.runtime.library import REQUIRED
from tests.engine.hardware.recorded import machine


def test_the_command_installs_the_release_that_the_engine_was_tried_with() -> None:
    assert VERSION == REQUIRED


@pytest.mark.parametrize(
    ("text", "features"),
    [
        ("CPU : AVX = 1 | AVX2 = 1 | ", ("AVX", "AVX2")),
        ("CPU : AVX = 1 | AVX2 = 0 | SVE_CNT = 16", ("AVX", "SVE_CNT")),
        ("CUDA : ARCHS = 750,800 | USE_GRAPHS = 1 | CPU : SSE3 = 1 | AVX = 1", ("SSE3", "AVX")),
        ("CPU : SSE3 = 1 | CUDA : ARCHS = 750 | FORCE_MMQ = 1 | ", ("SSE3",)),
        ("MTL : EMBED_LIBRARY = 1 | ", None),
        ("", None),
        ("no such thing", None),
    ],
)
def test_system_info(text: str, features: tuple[str, ...] | None) -> None:
    assert cpu_features(text) == features


def with_cpu(name: str, flags: str, features: str, architecture: str = "x86_64") -> Machine:
    """The machine with other flags and another build."""
    probes = machine(name)
    label = "flags" if architecture == "x86_64" else "Features"
    probes.files["/proc/cpuinfo"] = f"model name\t: Some CPU\n{label}\t: {flags}\n"
    probes.known = replace(probes.known, architecture=architecture)
    probes.known_devices = replace(probes.known_devices, system_info=f"CPU : {features}")
    return detect(probes)


def test_avx512_needs_all_of_its_parts() -> None:
    parts = ["avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"]
    whole = with_cpu("nvidia-8gb", " ".join(["avx", *parts]), "AVX = 1")
    assert whole.build.unused == ("AVX512",)
    # Xeon Phi has F and CD only. A build that uses the rest would crash.
    for part in parts:
        flags = " ".join(["avx", *(other for other in parts if other != part)])
        half = with_cpu("nvidia-8gb", flags, "AVX = 1 | AVX512 = 1")
        assert half.build.unused == () and half.build.missing == ("AVX512",)


def test_arm_without_dot_products() -> None:
    # A Raspberry Pi 4 with a build made on a Raspberry Pi 5.
    got = with_cpu(
        "virtual-machine-2-cores",
        "fp asimd evtstrm crc32 cpuid",
        "NEON = 1 | ARM_FMA = 1 | DOTPROD = 1",
        "aarch64",
    )
    assert got.cpu.architecture == "arm64"
    assert got.build.missing == ("DOTPROD",)


def test_the_ready_made_arm_build_leaves_the_important_ones_unused() -> None:
    flags = "fp asimd asimdhp asimddp i8mm sve"
    got = with_cpu("virtual-machine-2-cores", flags, "NEON = 1 | ARM_FMA = 1", "aarch64")
    assert got.build.unused == ("DOTPROD", "MATMUL_INT8", "FP16_VA", "SVE")
    assert not got.build.is_unfit and got.build.advice is not None


def test_without_flags_nothing_is_claimed() -> None:
    got = with_cpu("virtual-machine-2-cores", "", "AVX = 1 | AVX2 = 1")
    assert got.build.missing == () and got.build.unused == ()


def test_windows_tells_whether_avx2_is_there() -> None:
    probes = machine("windows-laptop-nvidia")
    numbers = tuple(n for n in probes.known.windows_features or () if n != 40)
    probes.known = replace(probes.known, windows_features=numbers)
    got = detect(probes)
    # Of FMA, F16C and BMI2 Windows says nothing, so nothing is claimed of them.
    assert got.build.missing == ("AVX2",)
    assert not {"FMA", "F16C", "BMI2"} & {*got.cpu.features, *got.cpu.lacks}


def test_macs_with_intel_processors_spell_flags_their_own_way() -> None:
    probes = machine("macbook-air-m2-16gb")
    probes.known = replace(probes.known, architecture="x86_64")
    (words,) = [words for words in probes.commands if words.startswith("sysctl")]
    probes.commands[words] = (
        "machdep.cpu.brand_string: Intel(R) Core(TM) i5-8257U CPU @ 1.40GHz\n"
        "machdep.cpu.features: FPU SSE SSE2 SSE3 SSSE3 FMA SSE4.1 SSE4.2 AVX1.0 F16C\n"
        "machdep.cpu.leaf7_features: BMI1 AVX2 BMI2 ERMS\n"
    )
    got = detect(probes)
    assert got.cpu.features == ("SSE3", "SSSE3", "AVX", "AVX2", "F16C", "FMA", "BMI2")
    assert got.idle_accelerators == () and got.cpu.efficiency_cores is None


def test_a_build_that_dies_of_an_illegal_instruction_is_to_be_compiled_again() -> None:
    probes = machine("nvidia-12gb-cpu-build")
    probes.known_devices = DeviceList(problem="llama.cpp died", is_illegal_instruction=True)
    got = detect(probes)
    assert got.problems == ("llama.cpp died",)
    assert got.build.is_unfit and got.build.features is None
    # With what the card needs, so that it is compiled once.
    assert got.build.advice is not None and "-DGGML_CUDA=on" in got.build.advice.pip
    assert [card.advice for card in got.idle_accelerators] == [None]


def test_powershell_sets_a_variable_in_its_own_way() -> None:
    probes = machine("windows-laptop-nvidia")
    probes.known_devices = DeviceList(problem="llama.cpp died", is_illegal_instruction=True)
    advice = detect(probes).build.advice
    assert advice is not None
    assert advice.pip.startswith('$env:CMAKE_ARGS="-DGGML_CUDA=on"; python -m pip install')


def test_a_name_from_numbers_where_arm_gives_no_other() -> None:
    probes = machine("virtual-machine-2-cores")
    probes.known = replace(probes.known, architecture="aarch64")
    probes.files["/proc/cpuinfo"] = "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"
    assert detect(probes).cpu.name == "Arm"
    probes.files["/sys/firmware/devicetree/base/model"] = "Raspberry Pi 5 Model B Rev 1.0\0"
    assert detect(probes).cpu.name == "Raspberry Pi 5 Model B Rev 1.0"


@pytest.mark.parametrize(
    ("name", "little", "big", "kinds"),
    [
        ("cpu_capacity", 397, 1024, (4, 4)),
        # Two kinds that compute nearly alike are as good as one.
        ("cpu_capacity", 718, 1024, (None, None)),
        ("cpufreq/cpuinfo_max_freq", 1056000, 2400000, (4, 4)),
    ],
)
def test_big_and_little_cores_of_arm(
    name: str, little: int, big: int, kinds: tuple[int | None, int | None]
) -> None:
    probes = machine("virtual-machine-2-cores")
    probes.known = Facts("Linux", "x", "6.1", "aarch64", logical_cpus=8, physical_cores=8)
    for number in range(8):
        folder = f"/sys/devices/system/cpu/cpu{number}"
        probes.files[f"{folder}/{name}"] = f"{little if number < 4 else big}\n"
    cpu = detect(probes).cpu
    assert (cpu.performance_cores, cpu.efficiency_cores) == kinds

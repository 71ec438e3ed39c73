"""Containers, virtual machines, and sentences about what failed."""

from __future__ import annotations

import pytest

from gemma_local.engine.hardware.detection import detect
from gemma_local.engine.hardware.problems import ProbeFailed, Problems
from gemma_local.engine.hardware.system import architecture
from tests.engine.hardware.recorded import machine


@pytest.mark.parametrize(
    ("path", "content", "name"),
    [
        ("/.dockerenv", "", "docker"),
        ("/run/.containerenv", 'engine="podman-5.2.2"\n', "podman"),
        ("/run/systemd/container", "systemd-nspawn\n", "systemd-nspawn"),
        ("/proc/self/cgroup", "0::/kubepods.slice/kubepods-pod1.slice/cri-1.scope\n", "kubernetes"),
        ("/proc/self/cgroup", "4:memory:/lxc/web\n", "lxc"),
        ("/proc/self/cgroup", "0::/user.slice\n", None),
    ],
)
def test_containers(path: str, content: str, name: str | None) -> None:
    probes = machine("virtual-machine-2-cores")
    probes.files[path] = content
    assert detect(probes).platform.container == name


def test_a_hypervisor_without_a_name() -> None:
    probes = machine("virtual-machine-2-cores")
    for name in ("sys_vendor", "product_name"):
        del probes.files[f"/sys/class/dmi/id/{name}"]
    assert detect(probes).platform.virtual_machine == "unknown"


@pytest.mark.parametrize(
    ("name", "one_name"),
    [("AMD64", "x86_64"), ("x86_64", "x86_64"), ("aarch64", "arm64"), ("ARM64", "arm64")],
)
def test_architectures_have_one_name(name: str, one_name: str) -> None:
    assert architecture(name) == one_name


def fails(error: Exception) -> None:
    raise error


def test_a_failure_is_one_sentence_and_the_rest_goes_on() -> None:
    problems = Problems()
    assert problems.attempt("the one", lambda: 5, None) == 5
    assert problems.attempt("the other", lambda: fails(OSError(5, "I/O\n  error")), 7) == 7
    assert problems.attempt("a third", lambda: fails(ProbeFailed("x said: no")), 0) == 0
    assert problems.attempt("a fourth", lambda: fails(RuntimeError()), 0) == 0
    assert problems.sentences == (
        "the other could not be found out (OSError: [Errno 5] I/O error)",
        "a third could not be found out (x said: no)",
        "a fourth could not be found out (RuntimeError)",
    )


def test_the_same_is_not_said_twice() -> None:
    problems = Problems()
    problems.add("it is broken")
    problems.add("it is broken")
    assert problems.sentences == ("it is broken",)

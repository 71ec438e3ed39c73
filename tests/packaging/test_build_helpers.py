"""The parts of the setup: compilers, processors, pip's output, and the paths in mypy's messages."""

from __future__ import annotations

import dataclasses
import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "packaging"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="uses stand-ins for programs")


def script(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of packaging/, found as it is when one of the scripts there runs."""
    monkeypatch.syspath_prepend(SCRIPTS)
    return importlib.import_module(name)


def program(path: Path, text: str = "") -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("manager", "command"),
    [
        ("apt-get", "sudo apt install build-essential"),
        ("dnf", "sudo dnf install gcc gcc-c++"),
        ("pacman", "sudo pacman -S --needed base-devel"),
        ("zypper", "sudo zypper install gcc gcc-c++"),
        ("apk", "sudo apk add build-base linux-headers"),
    ],
)
def test_missing_cxx_compiler(
    manager: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toolchain = script("toolchain", monkeypatch)
    program(tmp_path / "gcc")
    program(tmp_path / manager)
    sentence = toolchain.missing_compiler({"PATH": str(tmp_path)}, "linux")
    assert "has no C++ compiler" in sentence
    assert f"run `{command}`" in sentence


@pytest.mark.parametrize(
    ("platform", "command"),
    [
        ("linux", "install GCC or Clang"),
        ("darwin", "run `xcode-select --install`"),
        ("win32", "winget install Microsoft.VisualStudio.2022.BuildTools"),
    ],
)
def test_missing_compiler_without_a_package_manager(
    platform: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toolchain = script("toolchain", monkeypatch)
    program(tmp_path / "xcode-select", "exit 2")
    environ = {"PATH": str(tmp_path), "ProgramFiles(x86)": str(tmp_path)}
    assert command in toolchain.missing_compiler(environ, platform)


def test_compilers_that_a_person_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toolchain = script("toolchain", monkeypatch)
    program(tmp_path / "my-cc")
    program(tmp_path / "clang++")
    environ = {"PATH": str(tmp_path), "CC": "my-cc -m64"}
    assert toolchain.missing_compiler(environ, "linux") is None
    assert "CXX names the C++ compiler 'gone'" in toolchain.missing_compiler(
        {**environ, "CXX": "gone"}, "linux"
    )


@pytest.mark.parametrize(
    ("limit", "most"), [("100000 100000", 1), ("10000 100000", 1), ("max 100000", None)]
)
def test_usable_cpus_counts_a_containers_quota(
    limit: str, most: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toolchain = script("toolchain", monkeypatch)
    unlimited = toolchain.usable_cpus(tmp_path)
    (tmp_path / "cpu.max").write_text(limit)
    assert toolchain.usable_cpus(tmp_path) == (most or unlimited)


@pytest.mark.parametrize(
    ("field", "value", "covered"),
    [
        ("extras", ("lint", "test"), True),
        ("extras", (), False),
        ("cmake_args", "-DGGML_CUDA=on", True),
        ("root", "/moved", False),
        ("interpreter", "/usr/bin/python3.13", False),
        ("project", "changed", False),
    ],
)
def test_what_a_stamp_covers(
    field: str, value: object, covered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stamp = script("stamp", monkeypatch)
    wanted = stamp.Stamp("/here", "/usr/bin/python3.12", "project", ("test",), "")
    assert dataclasses.replace(wanted, **{field: value}).covers(wanted) is covered


def test_other_cmake_arguments_are_not_covered(monkeypatch: pytest.MonkeyPatch) -> None:
    stamp = script("stamp", monkeypatch)
    plain = stamp.Stamp("/here", "/usr/bin/python3.12", "project", (), "")
    assert not plain.covers(dataclasses.replace(plain, cmake_args="-DGGML_CUDA=on"))


def test_silence_is_filled_and_a_failure_ends_with_its_last_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pip_process = script("pip_process", monkeypatch)
    python = program(
        tmp_path / "python",
        "for n in $(seq 30); do echo line $n; done; echo 'Building: still running...'\n"
        "sleep 0.5; echo 'OSError: No space left on device'; exit 7",
    )
    said: list[str] = []
    failure = pip_process.run_pip(
        ["install"],
        python=python,
        environ={"PATH": "/usr/bin:/bin"},
        say=said.append,
        heartbeat=0.1,
    )
    assert said[:30] == [f"line {n}" for n in range(1, 31)]
    assert said[-1] == "OSError: No space left on device"
    assert 2 <= len(said[30:-1]) <= 6
    assert all(line.startswith("... still at it, ") for line in said[30:-1])
    assert "exit code 7" in failure
    assert "line 12\n" in failure
    assert "line 11\n" not in failure
    assert failure.endswith(pip_process.DISK_FULL)


def test_a_certificate_that_is_not_trusted_is_no_matter_of_the_network(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pip_process = script("pip_process", monkeypatch)
    said = [
        "WARNING: Retrying after SSLError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]'",
        "ERROR: Could not find a version that satisfies the requirement pip",
    ]
    assert pip_process.remedy(said) == pip_process.CERTIFICATE


def test_a_build_without_setuptools_says_what_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributions = script("distributions", monkeypatch)
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "pyproject.toml").touch()
    python = program(
        tmp_path / "python",
        "echo \"ModuleNotFoundError: No module named 'setuptools'\" >&2; exit 1",
    )
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(distributions.BuildFailed, match=r"make_venv\.py release"):
        distributions.build(tree, tmp_path / "out", 1_700_000_000)


def test_success_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pip_process = script("pip_process", monkeypatch)
    python = program(tmp_path / "python", "echo fine")
    said: list[str] = []
    assert pip_process.run_pip([], python=python, environ={}, say=said.append) is None
    assert said == ["fine"]


def test_mypy_messages_show_the_files_own_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    typecheck = script("typecheck", monkeypatch)
    root, tree = tmp_path, tmp_path / ".venv" / "typing"
    for folder in (*typecheck.ROOMS, "tests"):
        (root / folder).mkdir()
    (root / "models" / "errors.py").touch()
    typecheck.lay_out(root, tree)
    typecheck.lay_out(root, tree)
    assert (tree / "gemma_local" / "models" / "errors.py").exists()
    for through_links, own in (
        (".venv/typing/gemma_local/models/errors.py:1: error\n", "models/errors.py:1: error\n"),
        (f"{tree}/tests/test_a.py:2: note\n", "tests/test_a.py:2: note\n"),
        ("Found 2 errors\n", "Found 2 errors\n"),
    ):
        assert typecheck.real_paths(through_links, root, tree) == own

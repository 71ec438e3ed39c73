"""The probes of the real machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from gemma_local.engine.hardware.detection import detect
from gemma_local.engine.hardware.devices import DeviceList
from gemma_local.engine.hardware.probes import SystemProbes
from gemma_local.engine.hardware.problems import ProbeFailed
from gemma_local.engine.threads import physical_cores, usable_cpus


def test_it_is_found_out_without_a_problem(tmp_path: Path) -> None:
    found = detect(store=tmp_path / "not" / "yet")
    assert found.problems == ()
    assert found.memory.total == psutil.virtual_memory().total
    assert found.disk is not None and found.disk.folder == str(tmp_path)
    assert found.disk.free == pytest.approx(psutil.disk_usage(str(tmp_path)).free, rel=0.2)
    # The tests run on it, so it cannot be of another processor's build.
    assert not found.build.is_unfit and found.build.features


def test_the_engine_would_take_as_many_threads() -> None:
    cpu = detect(SystemProbes(DeviceList)).cpu
    assert cpu.usable_cpus == usable_cpus()
    assert cpu.usable_cores == physical_cores(usable_cpus())


def test_neither_llama_cpp_nor_numpy_is_loaded_by_it() -> None:
    code = (
        "import sys\n"
        "from gemma_local.engine.hardware import bandwidth, detection\n"
        "detection.detect()\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "print(*sorted({'numpy', 'llama_cpp', 'jinja2', 'pydantic'} & loaded))\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


def test_devices_that_are_known_are_not_asked_for_again() -> None:
    known = DeviceList(system_info="CPU : AVX = 1")
    assert SystemProbes(lambda: known).devices() is known


def test_what_is_not_there_is_none(tmp_path: Path) -> None:
    probes = SystemProbes()
    missing = str(tmp_path / "missing")
    assert probes.read_file(missing) is None
    assert probes.read_file(str(tmp_path)) is None
    assert probes.list_folder(missing) == ()
    assert probes.disk_free(missing) is None
    assert probes.run("gemma-local-no-such-program") is None


def script(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.mark.skipif(os.name == "nt", reason="the programs are shell scripts")
class TestPrograms:
    @pytest.fixture(autouse=True)
    def path(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        folder = tmp_path / "bin"
        folder.mkdir()
        monkeypatch.setenv("PATH", f"{folder}:/bin:/usr/bin")
        return folder

    def test_words_are_passed_on_as_they_are(self, path: Path) -> None:
        script(path, "show", 'printf "%s|" "$@"')
        words = ("$(touch owned)", "a; b", "`c`", "*", "")
        assert SystemProbes().run("show", *words) == "|".join(words) + "|"

    def test_it_has_our_environment_and_speaks_english(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
        monkeypatch.setenv("HOME", "/home/kim")
        script(path, "tell", "echo $LC_ALL $HOME")
        assert SystemProbes().run("tell") == "C /home/kim\n"

    def test_what_is_printed_counts_even_after_a_failure(self, path: Path) -> None:
        script(path, "half", "echo known; echo trouble >&2; exit 9")
        assert SystemProbes().run("half") == "known\n"
        script(path, "silent", "echo trouble >&2; exit 1")
        assert SystemProbes().run("silent") is None

    def test_a_program_in_the_working_folder_is_not_run(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        script(path, "nvidia-smi", "echo mine")
        assert SystemProbes().run("nvidia-smi") == "mine\n"
        monkeypatch.chdir(path)
        monkeypatch.setenv("PATH", ".:/bin:/usr/bin")
        assert SystemProbes().run("nvidia-smi") is None

    def test_a_program_that_hangs_is_named(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("gemma_local.engine.hardware.probes._TIMEOUT", 0.2)
        script(path, "hangs", "exec sleep 60")
        with pytest.raises(ProbeFailed, match=r"hangs did not answer within 0\.2 s"):
            SystemProbes().run("hangs")

    def test_a_driver_s_program_is_asked(self, path: Path) -> None:
        script(path, "nvidia-smi", 'echo "NVIDIA-SMI has failed"; exit 9')
        probes = SystemProbes(DeviceList)
        from gemma_local.engine.hardware.nvidia import nvidia_cards

        with pytest.raises(ProbeFailed, match="NVIDIA-SMI has failed"):
            nvidia_cards(probes)

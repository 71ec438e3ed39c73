"""llama.cpp is asked in a process of its own: for real, and with processes that end badly."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from gemma_local.engine.hardware.devices import Device, DeviceList, ask_devices
from tests.engine.test_library import pretend_version


def ask(code: str, timeout: float = 20.0) -> DeviceList:
    """The answer of a process that runs other code than it should."""
    return ask_devices(timeout, (sys.executable, "-c", code))


def test_llama_cpp_names_its_devices() -> None:
    found = ask_devices()
    assert found.problem == ""
    (cpu,) = [device for device in found.devices if device.type == "CPU"]
    assert cpu.backend == "CPU" and cpu.total == pytest.approx(
        psutil.virtual_memory().total, rel=0.01
    )
    assert "CPU" in found.backends and found.system_info.count(" = ") > 3


def test_it_survives_being_written_and_read() -> None:
    gpu = Device("CUDA", "CUDA0", "NVIDIA Größe", "GPU", 8 << 30, 7 << 30, "0000:01:00.0")
    found = DeviceList((gpu,), ("CUDA", "CPU"), "CPU : AVX = 1", "", True)
    line = found.encode()
    assert ask(f"print('noise'); print({line!r})") == found


@pytest.mark.skipif(os.name == "nt", reason="signals do not end processes there")
@pytest.mark.parametrize(
    ("name", "words", "is_illegal"),
    [
        ("SIGILL", "instructions that this processor lacks", True),
        ("SIGABRT", "gave up on a failed check", False),
        ("SIGSEGV", "crashed", False),
        ("SIGTERM", "received SIGTERM", False),
    ],
)
def test_a_crash_is_a_sentence(name: str, words: str, is_illegal: bool) -> None:
    found = ask(f"import os, signal; os.kill(os.getpid(), signal.{name})")
    assert words in found.problem
    assert found.is_illegal_instruction is is_illegal
    assert found.devices == ()


def test_a_driver_that_hangs_is_not_waited_for() -> None:
    found = ask("import time; time.sleep(60)", timeout=0.2)
    assert "within 0.2 s" in found.problem


@pytest.mark.parametrize(
    "code",
    [
        "pass",
        "print('Traceback')",
        "print('[]')",
        "print('{}')",
        "print('null')",
        """print('{"devices": [{"name": 1}], "backends": []}')""",
        """print('{"devices": 5, "backends": []}')""",
        "import sys; sys.exit('libcudart.so.12: cannot open shared object file')",
    ],
)
def test_an_answer_that_is_none_is_a_sentence(code: str) -> None:
    found = ask(code)
    assert "did not name its devices" in found.problem
    assert "sys.exit" not in code or "libcudart.so.12" in found.problem


def test_a_program_that_cannot_be_started_is_a_sentence() -> None:
    assert "no process" in ask_devices(command=("/nowhere/python",)).problem


def test_a_wrong_release_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_version(tmp_path, "0.2.90")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert "llama-cpp-python 0.2.90 is installed" in ask_devices().problem


def test_the_asking_process_loads_no_more_than_the_c_bindings() -> None:
    code = (
        "import sys\n"
        "from gemma_local.engine.hardware import devices_process as p\n"
        "assert p.list_devices().devices\n"
        "print(*sorted({'numpy', 'jinja2', 'llama_cpp.llama'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""

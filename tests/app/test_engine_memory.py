"""The memory of a process that is there, and of one that is not."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass

import pytest

from gemma_local.app.engine_memory import engine_memory
from gemma_local.engine.hardware.probes import SystemProbes
from gemma_local.engine.hardware.problems import ProbeFailed

MIB = 1 << 20


def test_a_process_that_takes_memory() -> None:
    code = "import sys; held = bytearray(b'x') * (64 << 20); print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = engine_memory(process.pid)
        process.kill()
    assert found is not None
    assert 64 * MIB < found.resident < 256 * MIB
    assert found.device is None
    if sys.platform == "linux":
        assert found.mapped is not None
        assert 0 < found.mapped < 64 * MIB


def test_there_is_no_process() -> None:
    assert engine_memory(None) is None
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert engine_memory(process.pid) is None


@dataclass
class Driver(SystemProbes):
    """The driver's program, with an answer that was recorded."""

    answer: str | None

    def run(self, *words: str) -> str | None:
        assert words[0] == "nvidia-smi"
        if self.answer == "hangs":
            raise ProbeFailed("nvidia-smi did not answer within 3 s")
        return self.answer


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("1, 300\nPID, 2048\nPID, 100\n", 2148 * MIB),
        ("1, 300\n", None),
        ("", None),
        ("PID, [N/A]\n", None),
        ("No running processes found", None),
        (None, None),
        ("hangs", None),
    ],
)
def test_memory_of_cards(answer: str | None, expected: int | None) -> None:
    own = str(os.getpid())
    found = engine_memory(os.getpid(), Driver(answer and answer.replace("PID", own)))
    assert found is not None
    assert found.device == expected

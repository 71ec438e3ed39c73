"""The devices that llama.cpp sees, asked in a process of its own.

llama.cpp must not be loaded where a conversation is held: a build for another processor dies of an
illegal instruction while it is loaded, a broken driver aborts, and a CUDA context takes hundreds of
megabytes of the card until its process ends.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from gemma_local.engine.endings import signal_name
from gemma_local.engine.environment import engine_environment

_COMMAND: Final = (sys.executable, "-P", "-m", "gemma_local.engine.hardware.devices_process")
_CAUSES: Final = {
    "SIGILL": "this build of llama.cpp uses instructions that this processor lacks",
    "SIGABRT": "llama.cpp or a graphics driver gave up on a failed check",
    "SIGSEGV": "llama.cpp or a graphics driver crashed",
    "SIGKILL": "it was killed, often because memory ran out",
}


@dataclass(frozen=True, slots=True)
class Device:
    """One device of ggml's list. Its values are those of ``ggml_backend_dev_get_props``.

    ``backend`` is the backend's name ("CPU", "CUDA", "MTL", ...), ``type`` one of "CPU", "GPU",
    "IGPU" (shares the host's memory), "ACCEL" (helps the CPU) and "META"; memory is in bytes,
    ``pci`` like "0000:c1:00.0" where the backend tells.
    """

    backend: str
    name: str
    description: str
    type: str
    total: int
    free: int
    pci: str | None = None


@dataclass(frozen=True, slots=True)
class DeviceList:
    """What llama.cpp sees. ``backends`` are those of its build, with a device or without;
    ``system_info`` is the text of ``llama_print_system_info``.

    ``problem`` is why it could not be asked, '' if it could; ``is_illegal_instruction``: because
    the build is for another processor.
    """

    devices: tuple[Device, ...] = ()
    backends: tuple[str, ...] = ()
    system_info: str = ""
    problem: str = ""
    is_illegal_instruction: bool = False

    def encode(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def decode(cls, line: str | bytes) -> DeviceList:
        """The list that ``encode`` wrote. Raises ValueError for anything else."""
        try:
            return cls.of_json(json.loads(line))
        except (KeyError, TypeError) as error:
            raise ValueError(f"no list of devices: {line[:80]!r}") from error

    @classmethod
    def of_json(cls, plain: dict[str, Any]) -> DeviceList:
        """The list of what ``encode`` wrote. Raises TypeError, ValueError or KeyError otherwise."""
        devices = tuple(Device(**device) for device in plain["devices"])
        return cls(**{**plain, "devices": devices, "backends": tuple(plain["backends"])})


def ask_devices(timeout: float = 20.0, command: Sequence[str] = _COMMAND) -> DeviceList:
    """Ask llama.cpp for its devices; never raises, whatever becomes of the process.

    ``timeout`` is in seconds; a driver that wakes a card up may take several. ``command`` is the
    process to start.
    """
    try:
        done = subprocess.run(
            list(command),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=engine_environment(),
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return too_late(timeout)
    except OSError as error:
        return DeviceList(problem=f"no process could be started to ask llama.cpp ({error})")
    if died := death(done.returncode):
        return died
    try:
        return DeviceList.decode(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        said = f" ({last[0].strip()})" if last else ""
        return DeviceList(
            problem=f"llama.cpp did not name its devices: its process ended with status "
            f"{done.returncode}{said}"
        )


def too_late(timeout: float) -> DeviceList:
    """Nothing was answered for so many seconds."""
    return DeviceList(
        problem=f"llama.cpp did not name its devices within {timeout:g} s; if a graphics "
        "driver hangs, restarting the machine often helps"
    )


def death(status: int) -> DeviceList | None:
    """What a process that was asked left, if a signal ended it."""
    if not (name := signal_name(status)):
        return None
    cause = _CAUSES.get(name, f"it received {name}")
    return DeviceList(
        problem=f"llama.cpp died when it was asked for its devices: {cause}",
        is_illegal_instruction=name == "SIGILL",
    )

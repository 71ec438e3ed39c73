"""The process that asks llama.cpp for its devices: prints one line, a ``DeviceList``.

Start it through ``gemma_local.engine.hardware.devices``.
"""

from __future__ import annotations

import faulthandler
import os

from gemma_local.engine.hardware.devices import DeviceList
from gemma_local.models.errors import GemmaLocalError


def list_devices() -> DeviceList:
    """llama.cpp's devices and what it says of itself, or the sentence why not."""
    try:
        from gemma_local.engine.runtime import devices, library

        library.start()
        return devices.device_list()
    except GemmaLocalError as error:
        return DeviceList(problem=str(error))


def main() -> None:
    """Answer on fd 1 and end."""
    faulthandler.disable()
    # Backends and drivers print to fd 1 as they like: only the answer may get there.
    answer = os.dup(1)
    os.dup2(2, 1)
    line = list_devices().encode().encode("ascii") + b"\n"
    with os.fdopen(answer, "wb") as stream:
        stream.write(line)
    # Drivers may crash while they are taken down, after all has been said.
    os._exit(0)


if __name__ == "__main__":
    main()

"""How much of an Apple silicon machine's memory its GPU may take."""

from __future__ import annotations

from typing import Final

_GIB: Final = 1 << 30
_LARGE: Final = 36 * _GIB


def working_set_limit(memory: int, sysctl: dict[str, str]) -> int:
    """Bytes that Metal calls ``recommendedMaxWorkingSetSize``: above them the system swaps or
    kills.

    ``iogpu.wired_limit_mb`` sets it; at 0 the system's own share holds, two thirds of the memory
    and three quarters from 36 GB on (read off Metal's own numbers for machines of 8 to 128 GB).
    """
    chosen = int(sysctl.get("iogpu.wired_limit_mb", "0")) << 20
    if chosen > 0:
        return min(chosen, memory)
    return memory * 3 // 4 if memory >= _LARGE else memory * 2 // 3

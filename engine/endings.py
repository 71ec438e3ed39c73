"""How a process ended, by its exit status."""

from __future__ import annotations

import signal
from typing import Final

# NTSTATUS values that Windows gives as exit status: illegal instruction, access violation.
_WINDOWS: Final = {0xC000001D: "SIGILL", 0xC0000005: "SIGSEGV"}


def signal_name(status: int) -> str:
    """The signal that ended a process, '' if none did. Real-time signals have a number only."""
    if status < 0:
        try:
            return signal.Signals(-status).name
        except ValueError:
            return f"signal {-status}"
    return _WINDOWS.get(status, "")

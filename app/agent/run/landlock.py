"""Landlock: a process gives up rights to files for itself and for all that it starts.

The kernel checks, so there is no way around by links, by /proc or by other programs. Numbers and
layouts are those of linux/landlock.h; each version of the interface (ABI) has those before it.
"""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from gemma_local.app.agent.run.system_calls import system_call

LEAST: Final = 2
"""The first version under which files can be moved between folders (Linux 5.19)."""

_CREATE_RULESET: Final = 444
_ADD_RULE: Final = 445
_RESTRICT_SELF: Final = 446
_VERSION: Final = 1
_PATH_BENEATH: Final = 1

_WRITE_FILE: Final = 1 << 1
_READ_FILE: Final = 1 << 2
_REMOVE: Final = 1 << 4 | 1 << 5
_MAKE_DEVICE: Final = 1 << 6 | 1 << 11
_MAKE: Final = 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 12
_REFER: Final = 1 << 13
_TRUNCATE: Final = 1 << 14
_DEVICE_CALLS: Final = 1 << 15

_FOR_FILES: Final = _WRITE_FILE | _READ_FILE | _TRUNCATE | _DEVICE_CALLS

_TCP: Final = 1 << 0 | 1 << 1
"""Listening and connecting."""
_SCOPES: Final = 1 << 0 | 1 << 1
"""Abstract sockets of others, and signals to them."""


@cache
def version() -> int:
    """The version of the interface that this kernel has, 0 if none or if it is switched off."""
    if sys.platform != "linux":
        return 0
    try:
        return system_call(_CREATE_RULESET, None, 0, _VERSION)
    except OSError:
        return 0


def restrict(
    writable: Sequence[Path],
    devices: Sequence[Path],
    hidden: Sequence[Path],
    shown: Sequence[Path] = (),
    *,
    has_network: bool,
    abi: int,
) -> None:
    """Give up writing but below ``writable`` and to ``devices``, and reading ``hidden`` but for
    ``shown``.

    Without ``has_network`` no TCP either (from version 4 on). Files that this process holds open
    stay open. Ptrace and signals reach only what is confined the same way (signals from version 6
    on). Raises OSError.
    """
    writing = _WRITE_FILE | _REMOVE | _MAKE | _MAKE_DEVICE
    writing |= _REFER if abi >= 2 else 0
    writing |= _TRUNCATE if abi >= 3 else 0
    writing |= _DEVICE_CALLS if abi >= 5 else 0
    handled = writing | (_READ_FILE if hidden else 0)
    network = _TCP if abi >= 4 and not has_network else 0
    attributes = [handled] + [network] * (abi >= 4) + [_SCOPES] * (abi >= 6)
    packed = b"".join(value.to_bytes(8, sys.byteorder) for value in attributes)
    rules = system_call(
        _CREATE_RULESET, ctypes.create_string_buffer(packed, len(packed)), len(packed), 0
    )
    try:
        for path in writable:
            _allow(rules, path, (handled & ~_MAKE_DEVICE & ~_DEVICE_CALLS))
        for path in devices:
            _allow(rules, path, handled & _FOR_FILES)
        if hidden:
            for path in (*without(Path("/"), hidden), *shown):
                _allow(rules, path, _READ_FILE)
        system_call(_RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)


def without(folder: Path, hidden: Iterable[Path]) -> list[Path]:
    """Paths that together hold all below ``folder`` but ``hidden``: itself if there is nothing to
    hide in it, else those of its entries."""
    inside = [path for path in hidden if path.is_relative_to(folder)]
    if not inside:
        return [folder]
    if folder in inside:
        return []
    found: list[Path] = []
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return []
    for entry in entries:
        # What a link leads to is reached, or hidden, by its own name.
        if not entry.is_symlink():
            found += without(entry, inside)
    return found


def _allow(rules: int, path: Path, rights: int) -> None:
    """What is not there needs no right."""
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(handle).st_mode):
            rights &= _FOR_FILES
        packed = rights.to_bytes(8, sys.byteorder) + handle.to_bytes(4, sys.byteorder)
        buffer = ctypes.create_string_buffer(packed, len(packed))
        system_call(_ADD_RULE, rules, _PATH_BENEATH, buffer, 0)
    finally:
        os.close(handle)

"""Calls to the Linux kernel that Python has no function for."""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, Final

_PR_SET_PDEATHSIG: Final = 1
_PR_CAPBSET_READ: Final = 23
_PR_CAPBSET_DROP: Final = 24
_PR_SET_CHILD_SUBREAPER: Final = 36
_PR_SET_NO_NEW_PRIVS: Final = 38

_CAPABILITY_VERSION: Final = 0x20080522
_CAPABILITY_BYTES: Final = 24

_MOUNT_SETATTR: Final = 442
_AT_FDCWD: Final = -100
_AT_RECURSIVE: Final = 0x8000
_ATTR_RDONLY: Final = 1


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return result


def _function(name: str) -> Callable[..., Any]:
    try:
        found: Callable[..., Any] = getattr(_libc(), name)
    except AttributeError as error:
        raise OSError(0, f"this system has no {name}") from error
    return found


def system_call(number: int, *arguments: int | ctypes.Array[ctypes.c_char] | None) -> int:
    """The result of a call by its number, which is the same on every architecture for calls newer
    than Linux 5.1. Raises OSError."""
    words = [
        ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments
    ]
    return _checked(_function("syscall")(ctypes.c_long(number), *words), f"call {number}")


def unshare(flags: int) -> None:
    """Leave the namespaces that ``flags`` name for new ones. Raises OSError."""
    _checked(_function("unshare")(ctypes.c_int(flags)), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    """Raises OSError."""
    result = _function("mount")(
        os.fsencode(source),
        os.fsencode(target),
        os.fsencode(kind) if kind else None,
        ctypes.c_ulong(flags),
        os.fsencode(options) if options else None,
    )
    _checked(result, f"mount {target}")


def set_read_only(target: str, *, is_read_only: bool, below: bool = False) -> None:
    """Whether a mount can be written to; ``below``: those under it as well. Raises OSError."""
    on, off = (_ATTR_RDONLY, 0) if is_read_only else (0, _ATTR_RDONLY)
    attributes = b"".join(value.to_bytes(8, sys.byteorder) for value in (on, off, 0, 0))
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    path = ctypes.create_string_buffer(os.fsencode(target))
    flags = _AT_RECURSIVE if below else 0
    system_call(_MOUNT_SETATTR, _AT_FDCWD, path, flags, buffer, len(attributes))


def die_with_parent(signal_number: int) -> None:
    """Get a signal when the thread that started this process ends. Raises OSError."""
    _prctl(_PR_SET_PDEATHSIG, signal_number)


def adopt_orphans() -> None:
    """Become the parent of all processes below this one whose own parent ends. Raises OSError."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def forgo_privileges() -> None:
    """Never gain any by starting a program, such as sudo. Raises OSError."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def drop_capabilities(kept: frozenset[int]) -> None:
    """Have none but ``kept``, and neither have programs that are started from here on, though they
    run as root. Raises OSError."""
    for number in range(64):
        try:
            if number not in kept and _prctl(_PR_CAPBSET_READ, number) == 1:
                _prctl(_PR_CAPBSET_DROP, number)
        except OSError:
            # There is no such number, or no right to drop: then there is nothing to be dropped.
            break
    header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    buffers = [
        ctypes.create_string_buffer(header, len(header)),
        ctypes.create_string_buffer(_CAPABILITY_BYTES),
    ]
    _checked(_function("capget")(*buffers), "capget")
    wanted = sum(1 << number for number in kept)
    # Effective, permitted and inheritable: the lower half of each, then the upper.
    sets = struct.unpack("=6I", buffers[1].raw)
    halves = [wanted & 0xFFFFFFFF] * 3 + [wanted >> 32] * 3
    left = struct.pack("=6I", *(one & half for one, half in zip(sets, halves, strict=True)))
    buffers[1] = ctypes.create_string_buffer(left, len(left))
    _checked(_function("capset")(*buffers), "capset")


def _prctl(option: int, value: int) -> int:
    zero = ctypes.c_ulong(0)
    result = _function("prctl")(ctypes.c_int(option), ctypes.c_ulong(value), zero, zero, zero)
    return _checked(result, f"prctl {option}")

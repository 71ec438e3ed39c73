"""Seccomp: the kernel refuses sockets of families that lead out of the machine.

Landlock knows TCP alone, and a network namespace leaves out some families, such as the sockets
between a virtual machine and its host.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import socket
import struct
from collections.abc import Sequence
from typing import Final

from gemma_local.app.agent.run.system_calls import system_call

_ARCHITECTURES: Final = {
    # machine: (audit number, socket, seccomp)
    "x86_64": (0xC000003E, 41, 317),
    "aarch64": (0xC00000B7, 198, 277),
    "riscv64": (0xC00000F3, 198, 277),
}
_IO_URING_SETUP: Final = 425
"""It opens sockets without the call for it."""
_X32: Final = 0x40000000

_SET_MODE_FILTER: Final = 1
_LOAD: Final = 0x20
_EQUAL: Final = 0x15
_AT_LEAST: Final = 0x35
_RETURN: Final = 0x06

_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_AT = 0, 4, 16
_ALLOW: Final = 0x7FFF0000
_REFUSE: Final = 0x00050000

LOCAL: Final = (socket.AF_UNIX, 16)
"""Sockets within the machine, and those to the kernel (netlink)."""
INTERNET: Final = (socket.AF_INET, socket.AF_INET6)


def is_known() -> bool:
    """Whether the numbers of this architecture are known here."""
    return platform.machine() in _ARCHITECTURES


def allow_sockets(families: Sequence[int]) -> None:
    """Let this process and all that it starts open sockets of these families alone.

    Needs the process to have forgone privileges. Raises OSError.
    """
    program = _program(families)
    code = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog: how many instructions, and where they are.
    head = struct.pack("@HP", len(program) // 8, ctypes.addressof(code))
    _, _, number = _ARCHITECTURES[platform.machine()]
    system_call(number, _SET_MODE_FILTER, 0, ctypes.create_string_buffer(head, len(head)))


def _program(families: Sequence[int]) -> bytes:
    """The filter, in the kernel's own instructions: code, jumps if true and false, operand."""
    architecture, call, _ = _ARCHITECTURES[platform.machine()]
    refused = _REFUSE | errno.EACCES
    missing = _REFUSE | errno.ENOSYS
    lines = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        # Calls of another architecture have other numbers: there are none.
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, missing),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, missing),
        (_EQUAL, 0, 1, _IO_URING_SETUP),
        (_RETURN, 0, 0, missing),
        (_EQUAL, 1, 0, call),
        (_RETURN, 0, 0, _ALLOW),
        (_LOAD, 0, 0, _FIRST_AT),
    ]
    for index, family in enumerate(families):
        lines.append((_EQUAL, len(families) - index, 0, family))
    lines += [(_RETURN, 0, 0, refused), (_RETURN, 0, 0, _ALLOW)]
    return b"".join(struct.pack("=HBBI", *line) for line in lines)

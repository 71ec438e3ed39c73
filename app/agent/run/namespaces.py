"""Namespaces: a process sees the machine with other mounts, another network and other processes.

Here everything is read-only but a few folders, secrets and the sockets of services are covered up,
and the network is a loopback device alone: a test may start a server and talk to it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import struct
from contextlib import suppress
from pathlib import Path
from typing import Final

from gemma_local.app.agent.run.confinement import Confinement
from gemma_local.app.agent.run.system_calls import mount, set_read_only, unshare

_NEWNS: Final = 0x00020000
_NEWIPC: Final = 0x08000000
_NEWUSER: Final = 0x10000000
_NEWPID: Final = 0x20000000
_NEWNET: Final = 0x40000000

_NOSUID, _NODEV, _NOEXEC = 2, 4, 8
_BIND: Final = 0x1000
_RECURSIVE: Final = 0x4000
_PRIVATE: Final = 1 << 18

_MACHINE: Final = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus")
"""Settings of the machine, which are root's own."""

_SIOCSIFFLAGS: Final = 0x8914
_UP: Final = 1


def leave(confinement: Confinement) -> None:
    """Leave the namespaces of the system. With ``has_own_processes`` only the next child is in the
    new ones wholly, as the first of its processes. Raises OSError."""
    flags = _NEWNS | _NEWIPC
    flags |= 0 if confinement.has_network else _NEWNET
    flags |= _NEWPID if confinement.has_own_processes else 0
    user, group = os.geteuid(), os.getegid()
    try:
        # As root it needs no users of its own, whose files would all seem to be somebody else's.
        unshare(flags)
    except PermissionError:
        unshare(flags | _NEWUSER)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def arrange(confinement: Confinement) -> None:
    """Make the new namespaces what the command is to see. Raises OSError."""
    mount("none", "/", None, _RECURSIVE | _PRIVATE)
    if not confinement.has_network:
        _start_loopback()
    kept = [(path, handle) for path in confinement.shown if (handle := _opened(path)) is not None]
    for path in confinement.hidden:
        _cover(path, confinement)
    for path, handle in kept:
        _uncover(path, handle)
    for path in confinement.writable:
        mount(path, path, None, _BIND | _RECURSIVE)
    set_read_only("/", is_read_only=True, below=True)
    for path in confinement.writable:
        set_read_only(path, is_read_only=False)
    for path in confinement.pinned:
        # What something is mounted on can be neither renamed nor removed.
        with suppress(FileNotFoundError):
            mount(path, path, None, _BIND | _RECURSIVE)
    for path in confinement.guarded:
        _protect(path)
    _part_terminals()
    if Path("/dev/shm").is_dir():
        mount("tmpfs", "/dev/shm", "tmpfs", _NOSUID | _NODEV, "mode=1777")
    if confinement.has_own_processes:
        mount("proc", "/proc", "proc", _NOSUID | _NODEV | _NOEXEC)
        for path in _MACHINE:
            _protect(path)


def _protect(path: str) -> None:
    with suppress(FileNotFoundError):
        mount(path, path, None, _BIND | _RECURSIVE)
        set_read_only(path, is_read_only=True)


def _part_terminals() -> None:
    """Terminals of its own: to those of the person it could write what they take for orders."""
    if not Path("/dev/pts/ptmx").exists():
        return
    mount("devpts", "/dev/pts", "devpts", _NOSUID | _NOEXEC, "newinstance,ptmxmode=0666,mode=620")
    # Where that is a link it leads here already.
    if Path("/dev/ptmx").exists() and not Path("/dev/ptmx").is_symlink():
        mount("/dev/pts/ptmx", "/dev/ptmx", None, _BIND)


def _cover(path: str, confinement: Confinement) -> None:
    """Put an empty folder, or an empty file, over what is there."""
    if any(Path(kept).is_relative_to(path) for kept in confinement.writable):
        return
    try:
        if Path(path).is_dir():
            mount("tmpfs", path, "tmpfs", _NOSUID | _NODEV | _NOEXEC, "size=4k,mode=755")
        elif Path(path).exists():
            mount("/dev/null", path, None, _BIND)
    except OSError as error:
        # A link that leads nowhere, or a folder that may not be looked into.
        if error.errno not in (errno.ENOENT, errno.EACCES, errno.ENOTDIR):
            raise


def _opened(path: str) -> int | None:
    try:
        return os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return None


def _uncover(path: str, handle: int) -> None:
    """Let a folder be seen that was reached by ``handle`` before something was put over it."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
        mount(f"/proc/self/fd/{handle}", path, None, _BIND | _RECURSIVE)
    finally:
        os.close(handle)


def _start_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh14x", b"lo", _UP)
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, request)

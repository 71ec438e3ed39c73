"""Keeps a process on this machine: whoever imports it may connect to nobody else.

Where this folder is on PYTHONPATH each Python imports it as it starts, so that it holds for the
processes that tests start, too.
"""

from __future__ import annotations

import errno
import importlib.machinery
import importlib.util
import ipaddress
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

NOBODY: Final = frozenset({"192.0.2.1", "2001:db8::1"})
"""Addresses of documentation, by which it is found out whether there is a way to others. On each
machine that tests run on there is none."""
HERE: Final = frozenset({None, "", "localhost", b"localhost"})


class NetworkForbidden(RuntimeError):
    """No ``OSError``: a network that does not answer is something that gemma-local deals with."""


def is_here(host: object) -> bool:
    """Whether a host is this machine, judged by its name or address alone."""
    if host in HERE:
        return True
    text = host.decode(errors="replace") if isinstance(host, bytes) else str(host)
    try:
        return ipaddress.ip_address(text.partition("%")[0]).is_loopback
    except ValueError:
        return False


def check(host: object) -> None:
    """Raise NetworkForbidden unless ``host`` is this machine, OSError if it is nobody's."""
    if host in NOBODY:
        raise OSError(errno.ENETUNREACH, "there is no network")
    if not is_here(host):
        raise NetworkForbidden(f"tests need no network, and this one asks for {host!r}")


def forbid() -> None:
    """Let every socket of this process, and every look-up of a name, be checked from now on."""
    for name in ("connect", "connect_ex", "sendto"):
        setattr(socket.socket, name, _checked_address(getattr(socket.socket, name)))
    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex"):
        setattr(socket, name, _checked_host(getattr(socket, name)))


def _checked_address(call: Callable[..., Any]) -> Callable[..., Any]:
    def checked(self: socket.socket, *arguments: Any) -> Any:
        # Of sockets in the file system the address is a path.
        if isinstance(arguments[-1], tuple):
            check(arguments[-1][0])
        return call(self, *arguments)

    return checked


def _checked_host(call: Callable[..., Any]) -> Callable[..., Any]:
    def checked(host: object, *arguments: Any, **named: Any) -> Any:
        check(host)
        return call(host, *arguments, **named)

    return checked


def _run_the_other_one() -> None:
    """Run what would have been imported in place of this file: some Pythons come with one."""
    folder = str(Path(__file__).parent)
    elsewhere = [place for place in sys.path if place != folder]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


forbid()
if __name__ == "sitecustomize":
    _run_the_other_one()

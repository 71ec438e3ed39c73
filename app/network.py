"""Whether this machine has a network at all, found out without sending anything."""

from __future__ import annotations

import socket
import urllib.request
from typing import Final

_FAR_AWAY: Final = (
    (socket.AF_INET, "192.0.2.1"),
    (socket.AF_INET6, "2001:db8::1"),
)
"""Addresses of documentation (RFC 5737, RFC 3849), which nobody has."""
_PORT: Final = 9


def has_network() -> bool:
    """True if there is a way to other machines, or a proxy that may know one.

    "Connecting" a UDP socket only looks for a route: no packet leaves. A route does not mean that
    the other side answers.
    """
    if any(scheme in ("http", "https", "all") for scheme in urllib.request.getproxies()):
        return True
    return any(_has_route(family, address) for family, address in _FAR_AWAY)


def _has_route(family: socket.AddressFamily, address: str) -> bool:
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, _PORT))
    except OSError:
        return False
    return True

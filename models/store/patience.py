"""When to try again: waits that grow, and what a server says about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

TRANSIENT_STATUSES: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses of HTTP that mean "later", not "no"."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to keep trying. Times are in seconds."""

    attempts: int = 6
    """In a row that bring nothing; any byte that arrives starts the count anew."""
    first_wait: float = 1.0
    """Doubled from one attempt to the next."""
    longest_wait: float = 30.0
    longest_asked: float = 300.0
    """A server may ask for more time than we would take by ourselves, up to this."""
    stall: float = 30.0
    """Without a single byte for this long, a connection counts as dead."""
    connect: float = 15.0

    def wait_before(self, attempt: int, asked: float | None) -> float:
        """How long to wait after failure number ``attempt``, from 1; ``asked`` by the server."""
        own = min(self.first_wait * 2.0 ** (attempt - 1), self.longest_wait)
        return own if asked is None else min(max(asked, 0.0), self.longest_asked)


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that a response's ``Retry-After`` asks for (RFC 9110: seconds or a date), else
    those until the rate limit of the hub's ``RateLimit`` header (``t=``) is lifted."""
    value = headers.get("Retry-After", "").strip()
    if value.isdecimal():
        return float(value)
    if value:
        try:
            until = parsedate_to_datetime(value)
        except ValueError:
            return None
        if until.tzinfo is None:
            until = until.replace(tzinfo=UTC)
        return max(0.0, (until - datetime.now(UTC)).total_seconds())
    for field in headers.get("RateLimit", "").split(";"):
        name, _, number = field.strip().partition("=")
        if name == "t" and number.isdecimal():
            return float(number)
    return None

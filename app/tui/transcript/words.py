"""Numbers as people read them."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """ "0.3 s", "12 s", "2 min 5 s"."""
    if seconds < 0.95:
        return f"{max(0.0, seconds):.1f} s"
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"

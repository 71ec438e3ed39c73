"""Lengths of time in words: to the second where one waits for it, roughly where it is guessed."""

from __future__ import annotations


def duration(seconds: float, *, tenths_below: int = 10) -> str:
    """ "4.2 s", "16 s", "3 min 5 s", "1 h 12 min".

    ``tenths_below``: what counts up while one looks has tenths for the first second only, so that
    it does not flicker.
    """
    if seconds < tenths_below - 0.05:
        return f"{max(seconds, 0.0):.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def time_left(seconds: float) -> str:
    """The same in whole seconds, one at least: what is not done yet takes some."""
    return duration(max(seconds, 1.0), tenths_below=0)


def rough_duration(seconds: float) -> str:
    """ "40 s", "12 min", "3.5 h"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def rough_time_left(seconds: float) -> str:
    """The same, one second at least."""
    return rough_duration(max(seconds, 1.0))

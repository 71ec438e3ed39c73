"""Numbers as the screens write them; a figure keeps its width while it changes."""

from __future__ import annotations

from typing import Final

_MIB: Final = 1 << 20
_GIB: Final = 1 << 30


def speed(tokens_per_second: float) -> str:
    """Tokens a second in four cells: "18.3", " 142"."""
    if tokens_per_second < 99.95:
        return f"{tokens_per_second:4.1f}"
    return f"{tokens_per_second:4.0f}"


def percent(share: float) -> str:
    """A share of 1 in five cells: "71 %" after a blank."""
    return f"{round(share * 100):3d} %"


def tokens(count: int) -> str:
    """A count of tokens in four cells: " 812", "3.1k", " 33k"."""
    if count < 1000:
        return f"{count:4d}"
    thousands = count / 1000
    return f"{thousands:.1f}k" if thousands < 9.95 else f"{thousands:3.0f}k"


def window(size: int) -> str:
    """The size of a context as it is called: "32k" for 32,768, else as `tokens`."""
    return f"{size // 1024}k" if size and size % 1024 == 0 else tokens(size).strip()


def memory(count: int) -> str:
    """Bytes of memory, in powers of two: "412 MiB", "3.4 GiB"."""
    if count < 10 * _MIB:
        return f"{count / _MIB:.1f} MiB"
    return f"{count / _MIB:.0f} MiB" if count < _GIB else f"{count / _GIB:.1f} GiB"

"""The memory bandwidth that decoding will see, measured.

A token costs one reading of the weights, so bytes per second bound tokens per second. What a
machine really gives depends on its memory modules, its cooling and what else runs; it is measured,
never looked up by a model's name.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from gemma_local.engine.hardware.machine import Machine
from gemma_local.models.errors import GemmaLocalError

_MIB: Final = 1 << 20
_LEAST: Final = 64 * _MIB
_USUAL: Final = 256 * _MIB
_CACHES: Final = 8
"""The buffer is this many times the last-level caches, so that hardly any of it is found there."""
_SHARE: Final = 8
"""At most one part in this many of the available memory is taken."""
_PASSES: Final = 5
_SECONDS: Final = 0.7
_UNSTEADY: Final = 0.25
"""A measurement with more spread than this was disturbed, and is not remembered."""


class BandwidthUnknown(GemmaLocalError):
    """The bandwidth could not be measured."""


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """A measurement. ``spread`` is the range of the middle half of the passes over their median:
    several tenths when something else was using the memory. ``buffer`` is in bytes."""

    bytes_per_second: float
    spread: float
    threads: int
    passes: int
    buffer: int


def buffer_bytes(last_level_cache: int | None, available: int | None) -> int:
    """How much to read: far more than the cache holds, and a small part of what is available."""
    wanted = max(_USUAL, _CACHES * (last_level_cache or 0))
    return wanted if available is None else max(_LEAST, min(wanted, available // _SHARE))


def measure(threads: int, buffer: int, clock: Callable[[], float] = time.perf_counter) -> Bandwidth:
    """Read ``buffer`` bytes again and again for 0.7 s, each thread its own part, as decoding does.

    Takes about a second with the making of the buffer. Call it only while nothing else computes
    here. ``clock`` gives seconds. Raises BandwidthUnknown where there is no memory for the buffer.
    """
    # Not at the top: what imports this module is to start without numpy.
    import numpy as np

    size = max(buffer // threads, 1)
    try:
        # Written to, because untouched pages are all the same page of zeros.
        parts = [np.full(size, index % 255, dtype=np.uint8) for index in range(threads)]
    except MemoryError:
        raise BandwidthUnknown(
            f"there is no memory to measure its bandwidth with ({buffer // _MIB} MiB are needed); "
            "close other programs and try again"
        ) from None
    rates: list[float] = []
    # numpy lets other threads run while it reduces, and the largest of many bytes is found by
    # vector instructions that are faster than any memory.
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(np.maximum.reduce, parts))
        end = clock() + _SECONDS
        while len(rates) < _PASSES or clock() < end:
            start = clock()
            list(pool.map(np.maximum.reduce, parts))
            rates.append(size * threads / max(clock() - start, 1e-9))
    low, median, high = statistics.quantiles(rates, n=4, method="inclusive")
    return Bandwidth(median, (high - low) / median, threads, len(rates), size * threads)


def bandwidth(machine: Machine, threads: int, cache: Path) -> Bandwidth:
    """The bandwidth with so many threads: what ``cache`` remembers, else measured and remembered.

    ``cache`` is a JSON file; one that is missing, damaged or cannot be written costs only a new
    measurement, and one that was disturbed is not remembered. Raises BandwidthUnknown.
    """
    if (found := remembered(machine, threads, cache)) is not None:
        return found
    buffer = buffer_bytes(machine.cpu.last_level_cache, machine.memory.available)
    found = measure(threads, buffer)
    if found.spread <= _UNSTEADY:
        _save(cache, {**_load(cache), _key(machine, threads): asdict(found)})
    return found


def remembered(machine: Machine, threads: int, cache: Path) -> Bandwidth | None:
    """What ``bandwidth`` measured here before, None if nothing; reads a small file, no more."""
    return _of_json(_load(cache).get(_key(machine, threads)))


def _key(machine: Machine, threads: int) -> str:
    return f"{machine.cpu.name or machine.cpu.architecture}, {threads} threads"


def _of_json(plain: Any) -> Bandwidth | None:
    try:
        found = Bandwidth(**plain)
        return found if found.bytes_per_second > 0 and found.spread >= 0 else None
    except TypeError:
        return None


def _load(cache: Path) -> dict[str, Any]:
    try:
        plain = json.loads(cache.read_bytes())
    except (OSError, ValueError):
        return {}
    return plain if isinstance(plain, dict) else {}


def _save(cache: Path, known: dict[str, Any]) -> None:
    """Replace the file as a whole, so that no reader sees half of it."""
    with contextlib.suppress(OSError):
        cache.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=cache.parent, prefix=cache.name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(known, file, indent=1)
            Path(name).replace(cache)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise

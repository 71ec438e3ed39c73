"""Measuring the memory's bandwidth, and remembering it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from gemma_local.engine.hardware import bandwidth as module
from gemma_local.engine.hardware.bandwidth import (
    Bandwidth,
    BandwidthUnknown,
    bandwidth,
    buffer_bytes,
    measure,
    remembered,
)
from gemma_local.engine.hardware.detection import detect
from tests.engine.hardware.recorded import machine

MIB = 1 << 20
GOOD = asdict(Bandwidth(1e10, 0.05, 4, 40, 256 * MIB))


def ticking(step: float) -> Callable[[], float]:
    """A clock that goes on by ``step`` seconds each time that it is looked at."""
    now = 0.0

    def look() -> float:
        nonlocal now
        now += step
        return now

    return look


def test_it_is_bytes_over_seconds() -> None:
    # Each pass looks at the clock twice, so that it takes one step.
    found = measure(2, 4 * MIB, ticking(0.01))
    assert found.bytes_per_second == pytest.approx(4 * MIB / 0.01)
    assert found.spread == pytest.approx(0.0, abs=1e-6)
    assert found.threads == 2 and found.buffer == 4 * MIB and found.passes >= 20


def test_the_spread_is_that_of_the_middle_half() -> None:
    # When the end is set, then before and after each of five passes, then whether it is reached.
    looks = [0.0, 0.0, 1.0, 1.0, 3.0, 3.0, 6.0, 6.0, 10.0, 10.0, 15.0, 15.0]
    times = iter(looks)
    found = measure(1, MIB, lambda: next(times))
    assert found.passes == 5
    assert found.bytes_per_second == pytest.approx(MIB / 3)
    assert found.spread == pytest.approx(3 * (1 / 2 - 1 / 4))


def test_there_are_enough_passes_for_a_median_however_slow_it_is() -> None:
    assert measure(1, MIB, ticking(30.0)).passes == 5


def test_a_clock_that_stands_still_does_no_harm() -> None:
    times = iter([0.0] * 11 + [1.0] * 100)
    found = measure(1, MIB, lambda: next(times))
    assert 0 < found.bytes_per_second < float("inf")


def test_on_this_machine() -> None:
    found = measure(1, 64 * MIB)
    assert found.bytes_per_second > 0 and found.spread >= 0
    assert found.passes >= 5 and found.buffer == 64 * MIB


@pytest.mark.parametrize(
    ("cache", "available", "size"),
    [
        (None, None, 256 * MIB),
        (12 * MIB, 8192 * MIB, 256 * MIB),
        (96 * MIB, 65536 * MIB, 768 * MIB),
        (96 * MIB, 2048 * MIB, 256 * MIB),
        (12 * MIB, 100 * MIB, 64 * MIB),
    ],
)
def test_the_buffer_is_far_larger_than_the_cache_and_fits(
    cache: int | None, available: int | None, size: int
) -> None:
    assert buffer_bytes(cache, available) == size


def test_no_memory_is_a_sentence() -> None:
    with pytest.raises(BandwidthUnknown, match="close other programs"):
        measure(1, 1 << 62)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The thread counts that were measured, each quickly."""
    threads: list[int] = []

    def quickly(count: int, _buffer: int) -> Bandwidth:
        threads.append(count)
        return measure(count, MIB, ticking(0.1))

    monkeypatch.setattr(module, "measure", quickly)
    return threads


def test_it_is_measured_once_for_each_number_of_threads(
    tmp_path: Path, measured: list[int]
) -> None:
    cache = tmp_path / "new" / "bandwidth.json"
    mac = detect(machine("macbook-air-m2-16gb"))
    first = bandwidth(mac, 4, cache)
    assert bandwidth(mac, 4, cache) == first
    bandwidth(mac, 2, cache)
    assert bandwidth(mac, 4, cache) == first
    assert measured == [4, 2]
    # Another processor, the same home folder.
    bandwidth(detect(machine("amd-apu")), 4, cache)
    assert measured == [4, 2, 4]
    assert len(json.loads(cache.read_text("utf-8"))) == 3
    assert list(cache.parent.iterdir()) == [cache]


def test_a_measurement_that_was_disturbed_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = iter([Bandwidth(9e9, 0.4, 4, 40, MIB), Bandwidth(2e10, 0.1, 4, 40, MIB)])
    monkeypatch.setattr(module, "measure", lambda _threads, _buffer: next(made))
    mac = detect(machine("macbook-air-m2-16gb"))
    cache = tmp_path / "bandwidth.json"
    assert bandwidth(mac, 4, cache).bytes_per_second == 9e9
    assert remembered(mac, 4, cache) is None
    assert bandwidth(mac, 4, cache).bytes_per_second == 2e10
    assert remembered(mac, 4, cache) == bandwidth(mac, 4, cache)
    assert remembered(mac, 2, cache) is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"Apple M2, 4 threads": 5}',
        b'{"Apple M2, 4 threads": {"bytes_per_second": 1}}',
        json.dumps({"Apple M2, 4 threads": {**GOOD, "bytes_per_second": -1.0}}).encode(),
        json.dumps({"Apple M2, 4 threads": {**GOOD, "bytes_per_second": "fast"}}).encode(),
    ],
)
def test_a_damaged_memory_costs_a_measurement(
    tmp_path: Path, measured: list[int], content: bytes
) -> None:
    cache = tmp_path / "bandwidth.json"
    cache.write_bytes(content)
    mac = detect(machine("macbook-air-m2-16gb"))
    assert bandwidth(mac, 4, cache).bytes_per_second > 0
    assert bandwidth(mac, 4, cache).bytes_per_second > 0
    assert measured == [4]


def test_where_nothing_can_be_written_it_is_measured_all_the_same(
    tmp_path: Path, measured: list[int]
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    mac = detect(machine("macbook-air-m2-16gb"))
    nameless = replace(mac, cpu=replace(mac.cpu, name=None))
    assert bandwidth(nameless, 1, in_the_way / "bandwidth.json").bytes_per_second > 0
    assert measured == [1]

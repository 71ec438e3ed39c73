"""Sums of tallies, by hand."""

from __future__ import annotations

import pytest

from gemma_local.app.tallies import add
from gemma_local.engine.messages import PaceTally, SourceTally, Tally

FAST = Tally(
    decoded_tokens=30,
    decode_seconds=1.0,
    sources=(SourceTally("mtp", 10, 20, 15, (10, 10), (9, 6), 0.25),),
    pace=PaceTally(
        lengths=(1, 0, 10),
        parked=1,
        parked_now=True,
        reason="dear",
        plain_speed=20.0,
        calibration=((0.62, 0.5, 10), (0.95, 0.9, 10)),
        seconds=0.001,
    ),
)
SLOW = Tally(
    decoded_tokens=10,
    decode_seconds=1.0,
    sources=(
        SourceTally("lookup", 1, 4, 4, (1, 1, 1, 1), (1, 1, 1, 1), 0.0),
        SourceTally("mtp", 5, 5, 1, (5,), (1,), 0.125),
    ),
    pace=PaceTally(
        lengths=(3, 5, 0, 0, 1),
        parked=2,
        plain_speed=10.0,
        calibration=((0.62, 0.4, 15), (0.95, 0.9, 20)),
        seconds=0.002,
    ),
)


def test_sources_add_up_by_name() -> None:
    assert add([FAST, SLOW]).sources == (
        SourceTally("mtp", 15, 25, 16, (15, 10), (10, 6), 0.375),
        SourceTally("lookup", 1, 4, 4, (1, 1, 1, 1), (1, 1, 1, 1), 0.0),
    )


def test_pace_adds_up_and_what_it_thought_last_stays() -> None:
    pace = add([FAST, Tally(decoded_tokens=500, decode_seconds=9.0), SLOW]).pace
    assert pace is not None
    assert pace.lengths == (4, 5, 10, 0, 1)
    assert pace.parked == 3
    # The last reason that there was: a pass that drafts has none.
    assert (pace.parked_now, pace.reason) == (False, "dear")
    assert pace.seconds == pytest.approx(0.003)
    # The later one has counted what came before.
    assert pace.calibration == ((0.62, 0.4, 15), (0.95, 0.9, 20))
    # 30 tokens in 1.5 s and 10 in 1 s.
    assert pace.plain_speed == pytest.approx(16.0)


def test_nothing_adds_up_to_nothing() -> None:
    assert add([]) == Tally()
    assert add([Tally(), Tally()]) == Tally()
    unknown = add([Tally(pace=PaceTally()), Tally(pace=PaceTally())]).pace
    assert unknown == PaceTally()

"""What drafting gains: measured where it was, estimated where it was not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gemma_local.app.launch import Launch, prepare
from gemma_local.app.options import PairOptions
from gemma_local.app.plain_speed import PlainSpeed
from gemma_local.app.speed_record import remember
from gemma_local.engine.messages import Done, PaceTally, Ready, Tally
from gemma_local.engine.plan.history import Run, machine_key
from tests.app.tui.status.measurements import READY, tally
from tests.ggufs import Pair


@pytest.fixture
def launch(story: Pair, home: Path) -> Launch:
    return prepare(PairOptions(model=str(story.target), threads=1), longest_draft=3)


@pytest.fixture
def ready() -> Ready:
    return replace(READY, threads=1)


def plain(tokens: int, seconds: float, prompt: int = 600) -> Tally:
    return Tally(
        prompt_tokens=prompt,
        emitted_tokens=tokens + 1,
        decoded_tokens=tokens,
        passes=tokens,
        decode_seconds=seconds,
        verify_seconds=seconds * 0.98,
    )


def run(launch: Launch, speed: float | None, **change: object) -> Run:
    planned, machine = launch.planned, launch.machine
    assert planned is not None and machine is not None
    made = Run(
        at=1.0,
        machine=machine_key(machine),
        label=planned.candidate.label,
        is_mixture=False,
        quantisation=planned.candidate.quantisation,
        context=4096,
        gpu_layers=launch.load.gpu_layers,
        threads=1,
        draft=3,
        forecast_plain=1.0,
        forecast_drafted=None,
        forecast_prefill=1.0,
        has_bandwidth=False,
        plain=speed,
    )
    return replace(made, **change)  # type: ignore[arg-type]


def test_a_plain_answer_of_this_session_is_the_measure(launch: Launch, ready: Ready) -> None:
    speeds = PlainSpeed(launch, ready, [run(launch, 1000.0)])
    speeds.observe(Done("a", "stop", plain(50, 5.0), ()))
    answer = tally(40, seconds=8.0)
    gain = speeds.gain(answer)
    assert gain is not None
    assert gain.measured
    assert gain.plain == pytest.approx(10.0)
    assert gain.percent == pytest.approx((answer.tokens_per_second / 10 - 1) * 100)


def test_where_the_engine_decides_it_knows_what_plain_decoding_would_yield(
    launch: Launch, ready: Ready
) -> None:
    speeds = PlainSpeed(launch, ready, [run(launch, 1000.0)])
    answer = replace(tally(40, seconds=8.0), pace=PaceTally(lengths=(0, 40), plain_speed=10.0))
    gain = speeds.gain(answer)
    assert gain is not None
    assert gain.measured
    assert gain.plain == 10.0
    assert gain.percent == pytest.approx((answer.tokens_per_second / 10 - 1) * 100)
    # Also where no draft would have paid; what it does not know yet others may.
    parked = replace(plain(40, 4.0), pace=PaceTally(lengths=(40,), parked=40, plain_speed=10.0))
    none = speeds.gain(parked)
    assert none is not None
    assert none.percent == pytest.approx(0.0)
    unknown = speeds.gain(replace(answer, pace=PaceTally(lengths=(0, 40))))
    assert unknown is not None
    assert unknown.plain == 1000.0
    assert speeds.gain(replace(parked, pace=PaceTally(lengths=(40,)))) is None


def test_what_says_nothing_about_plain_decoding_is_not_taken(launch: Launch, ready: Ready) -> None:
    speeds = PlainSpeed(launch, ready)
    speeds.observe(Done("a", "stop", plain(50, 5.0), (), exact=True))
    speeds.observe(Done("b", "stop", plain(5, 0.1), ()))
    speeds.observe(Done("c", "stop", tally(40, seconds=8.0), ()))
    gain = speeds.gain(tally(40, seconds=8.0))
    assert gain is not None
    assert not gain.measured


def test_an_empty_cache_is_no_measure_for_a_full_one(launch: Launch, ready: Ready) -> None:
    speeds = PlainSpeed(launch, ready, [run(launch, 12.0)])
    speeds.observe(Done("a", "stop", plain(50, 5.0), ()))
    deep = speeds.gain(tally(40, seconds=8.0, prompt=20_000))
    assert deep is not None
    assert not deep.measured
    speeds.observe(Done("b", "stop", plain(50, 10.0, prompt=19_000), ()))
    deep = speeds.gain(tally(40, seconds=8.0, prompt=20_000))
    assert deep is not None
    assert deep.plain == pytest.approx(5.0)


def test_earlier_runs_count_if_they_are_of_this_pair_here(launch: Launch, ready: Ready) -> None:
    runs = [
        run(launch, 10.0),
        run(launch, None),
        run(launch, 500.0, threads=2),
        run(launch, 500.0, machine="another"),
        run(launch, 500.0, label="31B"),
        run(launch, 500.0, quantisation="Q2_K"),
        run(launch, 500.0, gpu_layers=7),
        run(launch, 14.0),
        run(launch, 12.0),
    ]
    gain = PlainSpeed(launch, ready, runs).gain(tally(40, seconds=8.0))
    assert gain is not None
    assert gain.measured
    assert gain.plain == pytest.approx(12.0)


def test_runs_that_were_kept_on_disk_are_found(launch: Launch, ready: Ready) -> None:
    remember(launch, ready, None, plain=11.0, drafted=None, prefill=None)
    gain = PlainSpeed.remembered(launch, ready).gain(tally(40, seconds=8.0))
    assert gain is not None
    assert gain.measured
    assert gain.plain == pytest.approx(11.0)


def test_an_estimate_is_between_one_row_and_as_many_passes(launch: Launch, ready: Ready) -> None:
    answer = tally(40, seconds=8.0)
    gain = PlainSpeed(launch, ready).gain(answer, exact=True)
    assert gain is not None
    assert not gain.measured
    passes_per_second = answer.passes / answer.verify_seconds
    # A pass of four rows costs more than one of one row, and less than four of them.
    assert passes_per_second < gain.plain < 4 * passes_per_second
    assert gain.percent == pytest.approx((answer.tokens_per_second / gain.plain - 1) * 100)


def test_exact_mode_is_judged_by_the_rows_that_it_computes(launch: Launch, ready: Ready) -> None:
    answer = replace(
        tally(40, seconds=8.0), drafted=40, drafted_by_position=(40,), accepted_by_position=(36,)
    )
    speeds = PlainSpeed(launch, ready)
    free, exact = speeds.gain(answer), speeds.gain(answer, exact=True)
    assert free is not None and exact is not None
    # The same time for four rows instead of two: a row costs less, so plain would be faster.
    assert exact.plain > free.plain


def test_three_rows_are_taken_for_the_four_that_a_kernel_computes(
    launch: Launch, ready: Ready
) -> None:
    two = replace(tally(40, seconds=8.0), drafted=80)
    speeds = PlainSpeed(launch, ready)
    three_rows, four_rows = speeds.gain(two), speeds.gain(tally(40, seconds=8.0))
    assert three_rows is not None and four_rows is not None
    assert three_rows.plain == pytest.approx(four_rows.plain)


def test_nothing_is_said_where_nothing_is_known(launch: Launch, ready: Ready) -> None:
    answer = tally(40, seconds=8.0)
    speeds = PlainSpeed(launch, ready)
    assert speeds.gain(plain(50, 5.0)) is None
    assert speeds.gain(tally(3, seconds=0.5)) is None
    assert speeds.gain(replace(answer, verify_seconds=0.0)) is None
    assert PlainSpeed(replace(launch, planned=None), ready).gain(answer) is None
    assert PlainSpeed(replace(launch, machine=None), ready).gain(answer) is None

"""Forecasts against what was measured and published, and their correction by earlier runs."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.engine.hardware.machine import Machine
from gemma_local.engine.plan.choice import SizePlan, plan_one
from gemma_local.engine.plan.forecast import Forecast, pass_seconds, tokens_per_pass
from gemma_local.engine.plan.history import History, Run, corrections, machine_key
from gemma_local.engine.plan.settings import Wishes
from gemma_local.engine.plan.speeds import speeds_of
from tests.engine.plan.machines import GIB, apple, candidate, card, machine


def expected(
    where: Machine, label: str, wished: Wishes | None = None, bandwidth: float | None = None
) -> Forecast:
    size = plan_one(where, candidate(label), wished, bandwidth=bandwidth)
    assert size.forecast is not None
    return size.forecast


SEEN = [
    # Measured with this engine: two AVX2 cores, the dimensions of E2B.
    (machine(cores=2), "E2B", 14.2, 16.9),
    # Public reports: plain, and with drafts.
    (machine(accelerators=(card(24),)), "12B", 59.6, 116.3),
    # With drafts of 6 they had 226, which is more than a plan begins with.
    (machine(accelerators=(card(16),)), "12B", 89.2, None),
    (apple(64, 50), "26B-A4B", 58.2, 72.2),
    (apple(128, 100), "E2B", 118.0, 150.0),
    (machine(cores=10, available=60 * GIB, total=64 * GIB), "31B", 2.6, None),
    (machine(cores=10, available=60 * GIB, total=64 * GIB), "26B-A4B", 15.6, None),
]  # fmt: skip


@pytest.mark.parametrize(("where", "label", "plain", "drafted"), SEEN)
def test_what_was_seen_is_within_the_range(
    where: Machine, label: str, plain: float, drafted: float | None
) -> None:
    found = expected(where, label)
    assert found.plain.low <= plain <= found.plain.high
    assert found.drafted is not None
    if drafted is not None:
        assert found.drafted.low <= drafted <= found.drafted.high


def test_ranges_are_in_order_and_narrower_the_more_is_known() -> None:
    where = machine()
    guessed = expected(where, "E4B")
    measured = expected(where, "E4B", bandwidth=40e9)
    for found in (guessed, measured):
        assert found.drafted is not None
        for speed in (found.plain, found.drafted, found.prefill):
            assert 0 < speed.low < speed.expected < speed.high
    assert measured.plain.high / measured.plain.low < guessed.plain.high / guessed.plain.low


def test_a_mixture_of_experts_gains_less_by_drafting() -> None:
    where = machine(accelerators=(card(80),), available=60 * GIB)

    def gain(label: str) -> float:
        found = expected(where, label, Wishes(draft=3))
        assert found.drafted is not None
        return found.drafted.expected / found.plain.expected

    assert gain("26B-A4B") < 0.7 * gain("12B")
    # Four rows read 3.6 times the experts that one reads.
    mixture = candidate("26B-A4B")
    assert 1.5 < mixture.read_bytes(4) / mixture.read_bytes(1) < 3.6
    assert candidate("12B").read_bytes(4) == candidate("12B").read_bytes(1)


def test_a_pass_of_four_rows_costs_what_was_measured_on_two_cores() -> None:
    def gain(cores: int) -> float:
        found = expected(machine(cores=cores), "E2B", Wishes(draft=3))
        assert found.drafted is not None
        return found.drafted.expected / found.plain.expected

    # 2.7 times one row: 2.5 tokens a pass barely pay. More cores have arithmetic to spare.
    assert 0.95 < gain(2) < 1.15
    assert gain(2) < gain(4) < gain(8)


def test_drafting_that_is_much_slower_is_not_begun_with() -> None:
    weak = machine()
    weak = replace(weak, build=replace(weak.build, features=("SSE3",)))
    size = plan_one(weak, candidate("26B-A4B"))
    assert size.settings is not None
    assert size.settings.draft == 0
    assert "of the speed" in dict(size.reasons)["draft"]
    wished = plan_one(weak, candidate("26B-A4B"), Wishes(draft=3))
    assert wished.settings is not None
    assert wished.settings.draft == 3


@given(st.floats(0, 1), st.integers(0, 16))
def test_tokens_per_pass_is_between_one_and_the_whole_draft(acceptance: float, draft: int) -> None:
    assert 1 <= tokens_per_pass(acceptance, draft) <= draft + 1


def run(size: SizePlan, where: Machine, factor: float, **changes: object) -> Run:
    """A run that was ``factor`` times as fast as the forecast."""
    raw = size.raw
    assert raw is not None
    found = Run(
        at=1.0,
        machine=machine_key(where),
        label=size.candidate.label,
        is_mixture=bool(size.candidate.experts),
        quantisation="Q4_0",
        context=8192,
        gpu_layers=0,
        threads=8,
        draft=3,
        forecast_plain=raw.plain.expected,
        forecast_drafted=raw.drafted.expected if raw.drafted else None,
        forecast_prefill=raw.prefill.expected,
        has_bandwidth=False,
        plain=raw.plain.expected * factor,
        drafted=raw.drafted.expected * factor if raw.drafted else None,
        prefill=raw.prefill.expected * factor,
        bytes=size.candidate.bytes,
    )
    return replace(found, **changes)  # type: ignore[arg-type]


def test_earlier_runs_correct_the_next_forecast_of_the_same_class(tmp_path: Path) -> None:
    where = machine()
    first = plan_one(where, candidate("E2B"))
    history = History(tmp_path / "state" / "runs.jsonl")
    for factor in (1.4, 1.5, 9.0):
        history.append(run(first, where, factor))
    assert len(history.runs()) == 3
    past = corrections(history.runs(), where, has_bandwidth=False)
    again = plan_one(where, candidate("E2B"), correction=past)
    assert first.forecast is not None
    assert again.forecast is not None
    assert again.forecast.runs == 3
    assert again.forecast.plain.expected == pytest.approx(1.5 * first.forecast.plain.expected)
    assert again.raw == first.raw
    spread = again.forecast.plain.high / again.forecast.plain.low
    assert spread < first.forecast.plain.high / first.forecast.plain.low
    # Other sizes profit until they have run themselves: those of the class first.
    assert past(candidate("12B")).plain == pytest.approx(1.5)
    assert past(candidate("26B-A4B")).plain == pytest.approx(1.5)
    history.append(run(plan_one(where, candidate("26B-A4B")), where, 0.5))
    past = corrections(history.runs(), where, has_bandwidth=False)
    assert past(candidate("26B-A4B")).plain == pytest.approx(0.5)
    assert past(candidate("12B")).plain == pytest.approx(1.5)
    # A toy tells nothing about them, only about itself.
    toy = run(first, where, 0.2, label="toy", bytes=candidate("E2B").bytes // 40)
    History(tmp_path / "toys.jsonl").append(toy)
    toys = corrections(History(tmp_path / "toys.jsonl").runs(), where, has_bandwidth=False)
    assert toys(candidate("E2B")).runs == 0
    assert toys(replace(candidate("E2B"), label="toy")).plain == pytest.approx(0.2)
    # Another machine does not, nor a forecast that was made otherwise.
    assert corrections(history.runs(), machine(cores=4), has_bandwidth=False)(
        candidate("E2B")
    ).runs == 0  # fmt: skip
    assert corrections(history.runs(), where, has_bandwidth=True)(candidate("E2B")).runs == 0


@pytest.mark.parametrize("cached", [100, 20_000])
def test_each_sequence_of_a_pass_reads_a_window_of_its_own(cached: int) -> None:
    where, pair = machine(), candidate("31B")
    settings = plan_one(where, pair).settings
    assert settings is not None
    speeds = speeds_of(where, None, settings.threads, None)

    def seconds(cached: int, sequences: int) -> float:
        return pass_seconds(pair, settings, 0.0, speeds, 8, cached, sequences)

    alone = seconds(cached, 1) - seconds(0, 1)
    assert seconds(cached, 8) - seconds(0, 8) == pytest.approx(8 * alone)


@pytest.mark.parametrize(
    "damage", [b"{", b'{"at": 1}', b"\xff\xfe", b"[]", b'{"plain": "fast"}', b"null"]
)
def test_a_damaged_line_costs_only_itself(tmp_path: Path, damage: bytes) -> None:
    where = machine()
    size = plan_one(where, candidate("E2B"))
    path = tmp_path / "runs.jsonl"
    history = History(path)
    history.append(run(size, where, 1.0))
    with path.open("ab") as file:
        file.write(damage)
    history.append(run(size, where, 2.0))
    assert [found.plain for found in history.runs()] == [
        run(size, where, factor).plain for factor in (1.0, 2.0)
    ]


@pytest.mark.parametrize("field", ["plain", "bytes"])
def test_a_run_with_words_for_numbers_does_not_count(tmp_path: Path, field: str) -> None:
    where = machine()
    plain = asdict(run(plan_one(where, candidate("E2B")), where, 1.0))
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps({**plain, field: "many"}) + "\n")
    assert History(path).runs() == []


def test_a_long_history_is_cut(tmp_path: Path) -> None:
    where = machine()
    one = run(plan_one(where, candidate("E2B")), where, 1.0)
    line = json.dumps(asdict(one)) + "\n"
    path = tmp_path / "runs.jsonl"
    path.write_text(line * 1500)
    History(path).append(replace(one, at=7.0))
    runs = History(path).runs()
    assert len(runs) == 400
    assert runs[-1].at == 7.0

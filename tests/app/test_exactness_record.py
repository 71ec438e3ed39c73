"""The word "exact" is only earned by a recorded comparison of the very same combination."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gemma_local.app.exactness_record import (
    MINIMUM_ROWS,
    Combination,
    ExactnessRecord,
    Finding,
    deserves_label,
    fingerprint,
)
from gemma_local.engine.messages import Done, Load, Ready, Sampling, Tally
from tests.app.test_report import READY

THIS = Combination("t", "d", "0.3.36", "CPU", 2, -1, "f16", True)
PASSED = Finding(3, MINIMUM_ROWS, 0, True)


@pytest.fixture
def record(tmp_path: Path) -> ExactnessRecord:
    return ExactnessRecord(tmp_path / "deep" / "exactness.json")


def test_nothing_is_proven_at_first(record: ExactnessRecord) -> None:
    assert record.proven_lengths(THIS) == frozenset()


def test_a_pass_is_kept_for_this_combination_alone(record: ExactnessRecord) -> None:
    record.keep(THIS, [PASSED, replace(PASSED, draft=6)])
    assert record.proven_lengths(THIS) == {3, 6}
    for other in (
        replace(THIS, target="u"),
        replace(THIS, drafter=""),
        replace(THIS, kv_type="q8_0"),
        replace(THIS, llama="0.3.37"),
        replace(THIS, backend="CUDA"),
        replace(THIS, threads=1),
        replace(THIS, gpu_layers=0),
        replace(THIS, exact_mode=False),
    ):
        assert record.proven_lengths(other) == frozenset()


@pytest.mark.parametrize(
    "failed",
    [
        Finding(6, MINIMUM_ROWS, 1, True),
        Finding(6, MINIMUM_ROWS, 0, False),
    ],
)
def test_one_failing_length_takes_all_back(record: ExactnessRecord, failed: Finding) -> None:
    record.keep(THIS, [PASSED])
    record.keep(THIS, [PASSED, failed])
    assert record.proven_lengths(THIS) == frozenset()


def test_few_rows_prove_nothing(record: ExactnessRecord) -> None:
    record.keep(THIS, [replace(PASSED, rows=MINIMUM_ROWS - 1), replace(PASSED, draft=4)])
    assert record.proven_lengths(THIS) == {4}


@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": 9}', '{"version": 1}', "null"])
def test_a_broken_record_counts_as_empty_and_heals(tmp_path: Path, content: str) -> None:
    path = tmp_path / "exactness.json"
    path.write_text(content)
    record = ExactnessRecord(path)
    assert record.proven_lengths(THIS) == frozenset()
    record.keep(THIS, [PASSED])
    assert record.proven_lengths(THIS) == {3}
    assert [file.name for file in tmp_path.iterdir()] == ["exactness.json"]


def test_a_strange_entry_counts_as_nothing(tmp_path: Path) -> None:
    path = tmp_path / "exactness.json"
    path.write_text(f'{{"version": 1, "combinations": {{"{THIS.key}": {{"findings": [1]}}}}}}')
    assert ExactnessRecord(path).proven_lengths(THIS) == frozenset()


def test_fingerprints_see_size_beginning_and_end(tmp_path: Path) -> None:
    big = bytearray(3 << 20)
    prints = set()
    for change in (None, 0, len(big) - 1):
        content = bytearray(big)
        if change is not None:
            content[change] = 1
        path = tmp_path / f"{change}.gguf"
        path.write_bytes(content)
        prints.add(fingerprint(path))
    (tmp_path / "longer.gguf").write_bytes(big + b"\0")
    prints.add(fingerprint(tmp_path / "longer.gguf"))
    assert len(prints) == 4
    small = tmp_path / "small.gguf"
    small.write_bytes(b"x")
    copy = tmp_path / "copy.gguf"
    copy.write_bytes(b"x")
    assert fingerprint(small) == fingerprint(copy)


def test_the_label_needs_mode_proof_length_and_no_lenience(
    record: ExactnessRecord, tmp_path: Path
) -> None:
    model = tmp_path / "m.gguf"
    model.write_bytes(b"model")
    ready: Ready = replace(READY, target=str(model), drafter=str(model))
    load = Load(str(model), str(model))
    drafted = Done("a", "stop", Tally(drafted=3, drafted_by_position=(1, 1, 1)), (), exact=True)
    greedy = Sampling(temperature=0.0)

    def deserves(ready: Ready = ready, sampling: Sampling = greedy, done: Done = drafted) -> bool:
        return deserves_label(record, ready, load, sampling, done)

    assert not deserves()
    record.keep(Combination.of(ready, load, exact_mode=True), [PASSED])
    assert deserves()
    assert deserves(done=replace(drafted, tally=Tally()))
    # A draft of two is filled up to the same pass of four rows; one of four has eight.
    shorter = Tally(drafted=2, drafted_by_position=(1, 1))
    longer = Tally(drafted=4, drafted_by_position=(1, 1, 1, 1))
    assert deserves(done=replace(drafted, tally=shorter))
    assert not deserves(done=replace(drafted, tally=longer))
    assert not deserves(sampling=replace(greedy, lenience=0.1))
    assert not deserves(done=replace(drafted, exact=False))
    assert not deserves(ready=replace(ready, drafter=None))

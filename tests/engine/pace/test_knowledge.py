"""What is kept on disk: read again under the same key, and harmless whatever becomes of it."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median

import pytest

from gemma_local.engine.pace.knowledge import Knowledge
from gemma_local.engine.pace.pace import Pace
from gemma_local.engine.pace.profile import usual_profiles
from gemma_local.engine.pace.simulation import simulate


def pace(knowledge: Knowledge | None) -> Pace:
    return Pace(draft_max=8, lookup_max=15, most_rows=16, knowledge=knowledge)


def test_entries_are_told_apart_by_their_key(tmp_path: Path) -> None:
    path = tmp_path / "new" / "pace.json"
    Knowledge(path, "one").write({"a": 1})
    Knowledge(path, "two").write({"a": 2})
    Knowledge(path, "one").write({"a": 3})
    assert Knowledge(path, "one").read() == {"a": 3}
    assert Knowledge(path, "two").read() == {"a": 2}
    assert Knowledge(path, "three").read() is None
    assert [file.name for file in path.parent.iterdir()] == ["pace.json"]


def test_those_that_were_written_last_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "pace.json"
    for n in range(40):
        Knowledge(path, str(n)).write({"n": n})
    kept = [n for n in range(40) if Knowledge(path, str(n)).read() is not None]
    assert kept == list(range(16, 40))


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"form": 99, "entries": {}}',
        b'{"form": 1, "entries": []}',
        b'{"form": 1, "entries": {"x": 5}}',
    ],
)
def test_a_damaged_file_is_as_good_as_none(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "pace.json"
    path.write_bytes(damage)
    knowledge = Knowledge(path, "one")
    assert knowledge.read() is None
    knowledge.write({"a": 1})
    assert knowledge.read() == {"a": 1}


def test_a_place_that_cannot_be_written_to_is_no_matter(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    knowledge = Knowledge(tmp_path / "file" / "pace.json", "one")
    knowledge.write({"a": 1})
    assert knowledge.read() is None


def test_a_run_begins_with_what_the_last_one_learned(tmp_path: Path) -> None:
    profile = next(p for p in usual_profiles() if p.name == "gpu-code")
    knowledge = Knowledge(tmp_path / "pace.json", "one")
    first = pace(knowledge)
    assert simulate(profile, None, pace=first).course[0] == (0, 0)
    first.keep()
    # No plain pass to find out what one costs, and the right length at once.
    course = simulate(profile, None, seed=2, pace=pace(knowledge)).course
    lengths = [length for _, length in course[:20]]
    # Seven are best; fewer where the drafter itself is not sure.
    assert lengths[0] == median(lengths) == 7
    assert min(lengths) > 0


@pytest.mark.parametrize("field", ["costs", "rates", "match_rates", "calibration"])
@pytest.mark.parametrize("value", [None, 5, "x", [[1, "a"]], {"1 0": [[1, 2]]}, {"rates": 3}])
def test_an_entry_that_makes_no_sense_is_forgotten(
    tmp_path: Path, field: str, value: object
) -> None:
    path = tmp_path / "pace.json"
    knowledge = Knowledge(path, "one")
    whole = pace(knowledge)
    simulate(usual_profiles()[0], None, pace=whole)
    whole.keep()
    learned = knowledge.read()
    assert learned is not None
    knowledge.write({**learned, field: value})
    fresh = pace(knowledge)
    assert fresh.costs.table(2, 0).known == []
    assert fresh.calibration.rows() == ()
    assert json.loads(path.read_text())["form"] == 1


def test_nothing_is_written_where_nothing_was_learned(tmp_path: Path) -> None:
    path = tmp_path / "pace.json"
    pace(Knowledge(path, "one")).keep()
    assert not path.exists()

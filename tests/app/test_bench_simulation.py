"""``gemma-local bench --simulate``: draft lengths, chosen without a model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gemma_local.app.bench_simulation import as_text, chosen, contest
from gemma_local.app.errors import UsageError
from gemma_local.engine.pace.profile import BadProfile, Profile, read_profiles, usual_profiles
from tests.app.running import Command

OWN = {
    "name": "own",
    "rows": {"1": 50, "4": 60, "8": 90},
    "drafted_token": 2.0,
    "stretches": [{"tokens": 200, "acceptance": 0.8}],
}


def test_it_needs_no_model_and_says_how_near_the_best_it_comes(command: Command) -> None:
    done = command.run("bench", "--simulate", "cpu2-useless", "cpu2-exact", "--repeat", 1)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["cpu2-useless", "cpu2-exact"]
    assert "(plain)" in lines[1] and "100%" in lines[1]
    assert lines[-1].startswith("least of the best fixed length: ")


def test_own_profiles_and_json(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "own.json"
    file.write_text(json.dumps({"profile": [OWN, {**OWN, "name": "other", "block": 4}]}))
    done = command.run("bench", "--simulate", file, "--repeat", 2, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    assert said["repeat"] == 2
    assert [each["name"] for each in said["profiles"]] == ["own", "other"]
    for each in said["profiles"]:
        assert len(each["fixed"]) == 9
        assert each["to_best"] == pytest.approx(each["auto"] / max(each["fixed"]))
        assert sum(each["passes_by_length"]) > 0


def test_there_are_enough_usual_profiles_and_names_are_told_apart() -> None:
    names = [profile.name for profile in usual_profiles()]
    assert len(names) == len(set(names)) >= 12
    assert [profile.name for profile in chosen([])] == names
    assert len(chosen(["moe", "moe-chat"])) == sum(name.startswith("moe") for name in names)
    with pytest.raises(UsageError, match="there is no profile 'no'"):
        chosen(["no"])


def test_a_model_beside_it_is_refused(command: Command) -> None:
    done = command.run("bench", "--simulate", "--model", "x.gguf")
    assert done.returncode == 2
    assert "--simulate needs no --model" in done.stderr


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "is no JSON"),
        ("[1]", "holds no profile"),
        ('{"name": "x"}', "rows: field required"),
        (json.dumps({**OWN, "rows": {"2": 5}}), "rows: needs the milliseconds of 1 row"),
        (json.dumps({**OWN, "rows": {"1": -5}}), "rows.1: input should be greater than 0"),
        (json.dumps({**OWN, "colour": 1}), "colour: extra inputs"),
        (json.dumps({"profile": []}), "profile: tuple should have at least 1 item"),
    ],
)
def test_a_profile_that_makes_no_sense_is_refused_in_a_sentence(
    tmp_path: Path, text: str, sentence: str
) -> None:
    file = tmp_path / "own.json"
    file.write_text(text)
    with pytest.raises(BadProfile, match=sentence):
        read_profiles(file)
    with pytest.raises(BadProfile, match="cannot be read"):
        read_profiles(tmp_path / "none.json")


def test_without_a_drafter_there_is_one_fixed_length() -> None:
    alone = contest(Profile.model_validate({**OWN, "drafted_token": 0}), 1)
    assert len(alone.fixed) == 1 and alone.acceptance is None
    assert alone.of_best == pytest.approx(1.0)
    assert " -  " in as_text([alone])


def test_passes_between_the_given_ones_are_interpolated() -> None:
    profile = Profile.model_validate({**OWN, "per_1k_context": 1.0, "per_row_1k": 0.5})
    milliseconds = [1e3 * profile.pass_seconds(rows, 0) for rows in (1, 2, 4, 6, 8, 10)]
    assert milliseconds == pytest.approx([50, 50 + 10 / 3, 60, 75, 90, 105])
    assert profile.pass_seconds(4, 2048) == pytest.approx(0.060 + 2e-3 * (1.0 + 4 * 0.5))

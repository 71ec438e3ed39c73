"""The two measuring commands, with settings small enough for a test."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gemma_local.app.bench_prompts import KINDS, bench_prompt, long_prompt
from gemma_local.app.bench_report import Arm, Result, summarise
from gemma_local.app.tallies import add
from gemma_local.app.verify_report import Comparison, ModeReport, as_json, as_text
from gemma_local.engine.messages import Tally, Verified
from tests.app.running import FAST, Command
from tests.ggufs import Pair

PROMPTS = "read the file\n\nwrite a test\n\n\nwhat is it?\nhow?\n"


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    path = tmp_path / "prompts.txt"
    path.write_text(PROMPTS)
    return path


def test_verify_reports_records_and_earns_the_label(
    command: Command, story: Pair, prompts: Path
) -> None:
    pair = ("--model", story.target, *FAST, "--ctx", 512)
    own = ("--prompts", prompts, "--draft", "3")
    done = command.run("verify", *pair, *own, "--tokens", 170, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    assert [mode["mode"] for mode in said["modes"]] == ["default", "exact"]
    exact = said["modes"][1]
    assert exact["exact"] is True
    assert exact["differs"] is False
    assert [length["draft"] for length in exact["lengths"]] == [3]
    for length in exact["lengths"]:
        assert (length["equal_share"], length["differing_rows"]) == (1.0, 0)
        assert length["rows"] == 3 * 170
        assert [prompt["id"] for prompt in length["prompts"]] == ["1", "2", "3"]
        assert length["acceptance"] > 0

    ask = (*pair, "-p", "x", "--exact", "on")
    assert command.json(*ask, "--draft", 3)["exact"] is True
    assert command.json(*ask, "--draft", 4)["exact"] is False

    # Longer than exact mode drafts: nothing is compared there, and nothing that was shown is lost.
    longer = command.run("verify", *pair, "--prompts", prompts, "--draft", "8", "--tokens", 5)
    assert (longer.returncode, longer.stderr) == (0, "")
    assert "exact mode: nothing was compared" in longer.stdout
    assert "drafts are at most 7 long" in longer.stdout
    assert command.json(*ask, "--draft", 3)["exact"] is True


def test_verify_as_a_table(command: Command, story: Pair, prompts: Path) -> None:
    ask = ("verify", "--model", story.target, *FAST, "--prompts", prompts, "--tokens", 5, "--raw")
    done = command.run(*ask, "--draft", "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert "default mode: no difference, but fewer than" in done.stdout
    assert "texts equal" in done.stdout
    # So little was compared that nothing may be called exact.
    assert "exact mode: no difference, but fewer than" in done.stdout


def test_verify_leaves_out_prompts_that_are_too_long(
    command: Command, story: Pair, tmp_path: Path
) -> None:
    own = tmp_path / "own.txt"
    own.write_text("short\n\n" + "long " * 200)
    ask = ("verify", "--model", story.target, *FAST, "--ctx", 128, "--draft", "2", "--tokens", 4)
    done = command.run(*ask, "--prompts", own)
    assert done.returncode == 0
    assert "left out: 2: the prompt has" in done.stdout
    own.write_text("long " * 200)
    refused = command.run(*ask, "--prompts", own)
    assert refused.returncode == 1
    assert "no prompt could be compared" in refused.stderr


def test_verify_needs_a_drafter_and_readable_prompts(
    command: Command, story: Pair, tmp_path: Path
) -> None:
    alone = command.run("verify", "--model", story.target, "--drafter", "none")
    assert alone.returncode == 3
    assert "has no drafter" in alone.stderr
    missing = command.run(
        "verify", "--model", story.target, "--prompts", tmp_path / "none.txt", "--json"
    )
    assert (missing.returncode, json.loads(missing.stdout)["exit_code"]) == (2, 2)


def test_a_difference_is_reported_with_its_place_and_margin() -> None:
    same = Verified("x", 40, 0, 40, True, None, None, 60, 30, 0.0)
    other = Verified("y", 21, 5, 40, False, 20, 0.0042, 60, 24, 0.3)
    report = ModeReport("exact", ("a caveat",), [Comparison(3, (("reply", same), ("code", other)))])
    assert report.differs
    assert not report.is_proof
    text = as_text(report)
    assert text.splitlines()[0] == "exact mode: drafting changes something"
    assert text.splitlines()[2].split() == [
        *("3", "50%", "61", "5", "0.3", "code,", "token", "20", "0.0042"),
    ]
    assert text.splitlines()[3] == "note: a caveat"
    found = as_json(report)
    assert (found["differs"], found["exact"]) == (True, False)
    # Rows that differ count even where they changed no text.
    quiet = Verified("z", 600, 1, 600, True, None, None, 60, 30, 1e-6)
    assert ModeReport("exact", (), [Comparison(3, (("z", quiet),))]).differs


def test_bench_measures_every_arm(command: Command, story: Pair) -> None:
    ask = ("bench", "--model", story.target, *FAST, "--tokens", 12, "--repeat", 2)
    done = command.run(*ask, "--kinds", "reply,maths", "--draft", "1,4", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    found = {(result["kind"], result["arm"]): result for result in said["results"]}
    assert list(found) == [
        (kind, arm) for kind in ("reply", "maths", "all") for arm in ("plain", "1", "4", "auto")
    ]
    for (kind, arm), result in found.items():
        assert len(result["runs"]) == 2
        assert result["tokens_per_second"] > 0
        assert 0 <= result["outside_llama"] < 1
        assert result["ratio"] == (1.0 if arm == "plain" else pytest.approx(result["ratio"]))
        if arm != "auto":
            assert (result["acceptance"] is None) == (arm == "plain")
            assert result["pace"] is None
            assert [source["name"] for source in result["sources"]] == ["mtp"] * (arm != "plain")
        else:
            assert sum(result["pace"]["lengths"]) > 0
        # Every prompt was read, but for the tokens that all prompts begin with.
        runs = 4 if kind == "all" else 2
        assert result["prompt_tokens"] - result["prefilled_tokens"] <= 8 * runs


def test_bench_as_a_table_with_random_tokens(command: Command, story: Pair) -> None:
    ask = ("bench", "--model", story.target, *FAST, "--tokens", 6, "--repeat", 1)
    done = command.run(*ask, "--raw-tokens", 40, "--draft", "2")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    *arms, decided = [line.split()[:2] for line in lines if line.startswith("raw")]
    assert arms == [["raw", "plain"], ["raw", "2"], ["raw", "auto"]]
    assert decided[1].endswith("%")
    assert "auto, by source, and passes by the length of their draft" in lines
    assert lines[-1].startswith("fastest: ")
    alone = command.run(*ask, "--raw-tokens", 40, "--drafter", "none")
    assert alone.returncode == 0
    lines = [line for line in alone.stdout.splitlines() if line.startswith("raw")]
    assert [line.split()[1] for line in lines[:2]] == ["plain", "auto"]
    assert "mtp accepted" not in alone.stdout


def test_every_prompt_begins_differently_in_every_run() -> None:
    for kind in KINDS:
        assert len({bench_prompt(kind, run).split("\n")[0] for run in range(3)}) == 3
    assert all(20 < len(bench_prompt(kind, 0).split()) < 200 for kind in KINDS)
    assert "\n\n" in long_prompt()
    assert 2500 < len(long_prompt()) < 6000


def test_sums_and_ratios() -> None:
    fast = Tally(decode_seconds=1.0, decoded_tokens=30, accepted_by_position=(2, 1), drafted=3)
    slow = Tally(decode_seconds=2.0, decoded_tokens=30, accepted_by_position=(1,), drafted=1)
    total = add([fast, slow])
    assert (total.decode_seconds, total.decoded_tokens, total.drafted) == (3.0, 60, 4)
    assert total.accepted_by_position == (3, 1)
    result = Result("code", Arm("3", 3), (fast, fast), (slow, fast))
    assert (result.speed, result.ratio) == (30.0, 1.5)
    arms = [Arm("plain", 0), Arm("3", 3)]
    tallies = {(kind, arm.name): [fast] for kind in ("a", "b") for arm in arms}
    assert [(r.kind, r.arm.name) for r in summarise(arms, ["a", "b"], tallies)] == [
        *(("a", "plain"), ("a", "3"), ("b", "plain"), ("b", "3"), ("all", "plain"), ("all", "3")),
    ]

"""Which model runs where no file is named, and what is kept of how fast it was."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from gemma_local.app import model_choice
from gemma_local.app.errors import NoModel
from gemma_local.app.model_choice import choose_model, size_named
from gemma_local.engine.plan.errors import DoesNotFit
from gemma_local.engine.plan.settings import Wishes
from gemma_local.models.store.hub_cache import HubCache
from gemma_local.models.store.library import Library
from tests.app.running import FAST, STORY, Command
from tests.bench.real_shape import hollow_pair
from tests.engine.plan.machines import GIB, machine
from tests.ggufs import Pair
from tests.models.made_up_vocabulary import made_up_vocabulary


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("e4b", "E4B"),
        ("E4B", "E4B"),
        ("gemma-4-E4B-it", "E4B"),
        ("gemma4:12b", "12B"),
        ("26b", "26B-A4B"),
        ("26b-a4b", "26B-A4B"),
        ("7b", None),
        ("e4b.gguf", None),
        ("./e4b", None),
        ("my-e4b-model", None),
    ],
)
def test_names_of_sizes(name: str, label: str | None) -> None:
    assert size_named(name) == label


def test_a_file_is_not_taken_for_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("e4b").touch()
    assert size_named("e4b") is None


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    """An empty one, which is that of this person."""
    found = Library(tmp_path / "models", HubCache(tmp_path / "hub"))
    monkeypatch.setattr("gemma_local.models.store.library.Library", lambda: found)
    return found


def test_the_best_of_what_is_here_runs(library: Library, tmp_path: Path, story: Pair) -> None:
    where = machine(cores=4, available=10 * GIB, total=16 * GIB)
    with pytest.raises(NoModel, match=r"there is no model yet\. E4B .*models get e4b.*tokens/s"):
        choose_model(where, Wishes())
    # What is no published Gemma 4 is better than nothing.
    library.add(story.target)
    assert choose_model(where, Wishes()).samefile(story.target)
    pair = hollow_pair("E2B", made_up_vocabulary(), tmp_path)
    library.add(pair.target)
    library.add(pair.drafter)
    assert choose_model(where, Wishes()).samefile(pair.target)
    assert choose_model(where, Wishes(), "E2B").samefile(pair.target)
    with pytest.raises(NoModel, match=r"E4B is not on this machine: .*models get e4b"):
        choose_model(where, Wishes(), "E4B")
    small = machine(available=GIB, total=2 * GIB)
    with pytest.raises(NoModel, match=r"12B is not on this machine, and 12B needs .* more"):
        choose_model(small, Wishes(), "12B")
    for label in (None, "E2B"):
        with pytest.raises(DoesNotFit, match="E2B does not fit"):
            choose_model(small, Wishes(), label)


def test_where_nothing_fits_no_download_is_recommended(library: Library) -> None:
    with pytest.raises(NoModel, match=r"even E2B needs .* more than is free"):
        choose_model(machine(available=GIB, total=2 * GIB), Wishes())


def test_speeds_have_no_more_digits_than_are_known() -> None:
    shown = [model_choice.rounded(speed) for speed in (0.42, 9.96, 12.34, 156.2)]
    assert shown == ["0.4", "10.0", "12", "160"]


def test_a_pair_that_was_added_runs_without_being_named(
    command: Command, story: Pair, tmp_path: Path
) -> None:
    apart = tmp_path / "apart"
    apart.mkdir()
    target = Path(shutil.copy(story.target, apart / "story.gguf"))
    variables = {"HF_HOME": str(tmp_path / "hf")}
    for path in (target, story.drafter):
        assert command.run("models", "add", path, **variables).returncode == 0
    said = command.json("-p", "x", *FAST, **variables)
    assert (said["text"], said["model"]) == (STORY.text, str(target))
    # The drafter lies elsewhere, and the library knows it.
    assert said["drafter"] == str(story.drafter)
    missing = command.run("--model", "e4b", "-p", "x", **variables)
    assert (missing.returncode, missing.stdout) == (3, "")
    assert "gemma-local models get e4b" in missing.stderr


def test_each_answer_leaves_its_speed(command: Command, story: Pair) -> None:
    record = command.home / "XDG_STATE_HOME" / "gemma-local" / "runs.jsonl"
    command.json("--model", story.target, "-p", "x", *FAST)
    command.json("--model", story.target, "-p", "x", *FAST, "--draft", "off")
    drafted, plain = (json.loads(line) for line in record.read_text().splitlines())
    assert drafted["drafted"] > 0
    assert drafted["plain"] is None
    assert plain["plain"] > 0
    assert plain["drafted"] is None
    assert plain["forecast_plain"] > 0
    assert plain["peak_bytes"] is None or plain["peak_bytes"] > 1 << 20


def test_a_record_that_cannot_be_written_costs_no_answer(command: Command, story: Pair) -> None:
    state = command.home / "XDG_STATE_HOME" / "gemma-local"
    (state / "runs.jsonl").mkdir(parents=True)
    done = command.run("--model", story.target, "-p", "x", *FAST)
    assert (done.returncode, done.stdout, done.stderr) == (0, STORY.text + "\n", "")


def test_layers_on_a_card_that_is_not_there_are_refused(command: Command, story: Pair) -> None:
    done = command.run("--model", story.target, "-p", "x", *FAST, "--gpu-layers", 3)
    assert (done.returncode, done.stdout) == (2, "")
    assert "llama.cpp sees none here" in done.stderr


def test_the_kv_cache_s_numbers_can_be_chosen(command: Command, story: Pair) -> None:
    ask = ("--model", story.target, "-p", "x", *FAST, "--output", "stream-json")
    for kind in ("q8_0", "bf16"):
        done = command.run(*ask, "--kv-type", kind)
        events = [json.loads(line) for line in done.stdout.splitlines()]
        assert next(e for e in events if e["type"] == "ready")["kv_type"] == kind
        assert events[-1]["text"] == STORY.text
    refused = command.run(*ask, "--kv-type", "q4_0")
    assert refused.returncode == 2
    assert "f16, bf16 or q8_0" in refused.stderr


def test_the_person_s_own_catalogue_counts(command: Command) -> None:
    own = command.home / "XDG_CONFIG_HOME" / "gemma-local" / "catalog.toml"
    own.parent.mkdir(parents=True)
    own.write_text("[[size]]\nlabel = 7\n")
    done = command.run("models", "get", "e2b", "--yes", HF_HUB_OFFLINE="1")
    assert done.returncode != 0
    assert str(own) in done.stderr

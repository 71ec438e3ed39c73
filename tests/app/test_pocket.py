"""The small guide as people start it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemma_local.models import pocket
from tests.app.running import FAST, Command

ABOUT_SPEED = "saves passes of the model, not seconds"


def test_it_goes_by_its_name_and_always_drafts(command: Command) -> None:
    said = command.json("--model", "pocket", "-p", "What is acceptance?", "--seed", 1, *FAST)
    assert Path(said["model"]).name == pocket.TARGET_FILE
    assert Path(said["drafter"]).name == pocket.DRAFTER_FILE
    assert said["pace"] is None
    assert [source["name"] for source in said["sources"]] == ["mtp"]
    assert len(said["drafted_by_position"]) == pocket.DRAFT
    assert said["tokens_per_pass"] > 1


@pytest.mark.parametrize(("draft", "most"), [("off", 0), (2, 2)])
def test_another_length_can_be_asked_for(command: Command, draft: object, most: int) -> None:
    said = command.json("--model", "POCKET", "-p", "hello", "--draft", draft, "--seed", 1, *FAST)
    assert len(said["drafted_by_position"]) == most


def test_it_says_what_drafting_is_good_for_at_this_size(command: Command) -> None:
    done = command.run("--model", "pocket", "-p", "hello", "--stats", "--seed", 1, *FAST)
    assert done.returncode == 0
    assert ABOUT_SPEED in done.stderr


def test_a_file_of_that_name_comes_first(command: Command, tmp_path: Path) -> None:
    command.home.mkdir()
    (tmp_path / "pocket").write_bytes(b"GGUF?")
    done = command.run("--model", tmp_path / "pocket", "-p", "hello", *FAST)
    assert done.returncode == 3
    assert str(tmp_path / "pocket") in done.stderr


def test_a_build_without_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from gemma_local.app.errors import NoModel
    from gemma_local.app.launch import prepare
    from gemma_local.app.options import AnswerOptions

    monkeypatch.setattr(pocket, "pair", lambda: None)
    with pytest.raises(NoModel, match="built without the small guide"):
        prepare(AnswerOptions(model="pocket"), longest_draft=None)

"""What is done while the person reads or writes: its results, and what goes wrong in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gemma_local.engine.messages import Generate
from gemma_local.models.chat_format import Rendering
from gemma_local.models.message import Tool
from tests.app.talking import talking
from tests.ggufs import Pair, build, script
from tests.waiting import PATIENCE


@pytest.fixture(scope="module")
def speaker(ggufs: Path) -> Pair:
    return build("dense", script(["Well", *(f" say{i}" for i in range(24))]), ggufs / "speaker")


@pytest.mark.skipif(os.name == "nt", reason="kills a process")
def test_an_engine_that_dies_while_the_person_reads_is_told_when_they_ask(
    speaker: Pair, tmp_path: Path
) -> None:
    with talking(speaker, tmp_path) as talk:
        talk.ask("hello")
        talk.kill_engine()
        talk.rest()
        assert (talk.heard.deaths, talk.heard.notices) == ([], [])
        assert talk.ask("and now?").done.reason == "stop"
        assert len(talk.heard.deaths) == 1


def test_what_is_found_out_in_the_background_is_told_when_the_person_is_back(
    speaker: Pair, tmp_path: Path
) -> None:
    with talking(speaker, tmp_path, context=1024) as talk:
        while talk.assistant.use().prompt <= talk.assistant.window.warn_at:
            talk.add("go on", "so it is " * 20)
        talk.assistant.idle()
        work = talk.assistant._idle._thread
        assert work is not None
        work.join(PATIENCE)
        assert talk.heard.notices == []
        talk.assistant.wake()
        [told] = talk.heard.notices
        assert "% full" in told


def test_a_conversation_that_rests_is_written_to_disk(
    speaker: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gemma_local.app.assistant.SAVE_AFTER", 0.0)
    with talking(speaker, tmp_path, session="s", saves=True) as talk:
        talk.ask("hello")
        assert not list((tmp_path / "states").glob("*"))
        talk.rest()
        assert list((tmp_path / "states").glob("*"))


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("is_new", [True, False])
def test_what_nobody_thought_of_ends_the_rest_alone(
    speaker: Pair, tmp_path: Path, is_new: bool
) -> None:
    def broken(rendering: Rendering) -> Generate:
        raise RuntimeError("never")

    with talking(speaker, tmp_path, tools=[Tool("read", "Reads a file")] if is_new else ()) as talk:
        if not is_new:
            talk.ask("hello")
        usual, talk.assistant._make_request = talk.assistant._make_request, broken
        talk.rest()
        [told] = talk.heard.notices
        assert told.startswith("something unexpected went wrong (RuntimeError('never'))")
        talk.assistant._make_request = usual
        talk.rest()
        assert talk.ask("and now?").done.reason == "stop" and talk.heard.notices == [told]

"""A pair for several conversations at once, in the memory that there is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gemma_local.app.abreast import abreast
from gemma_local.app.launch import Launch, prepare
from gemma_local.app.options import AnswerOptions
from gemma_local.engine.hardware.machine import Machine
from tests.ggufs import Pair


def launched(pair: Pair) -> Launch:
    options = AnswerOptions(model=str(pair.target), threads=1, ctx=8_192)
    return prepare(options, longest_draft=None)


def with_room_for(launch: Launch, host: int) -> Machine:
    """The machine of a launch, with so many bytes for a plan: of little memory half is left."""
    assert launch.machine is not None
    memory = replace(launch.machine.memory, available=2 * host)
    return replace(launch.machine, memory=memory)


@pytest.mark.usefixtures("home")
def test_as_many_as_fit_and_nothing_else_changes(story: Pair) -> None:
    launch = launched(story)
    assert launch.planned is not None and launch.planned.fitting is not None
    all_three, sentence = abreast(launch, 3)
    assert all_three.load == replace(launch.load, sequences=3)
    assert sentence.startswith("the model is loaded for 3 at once, which takes ")
    counts = []
    for host in (1 << 10, *range(60 << 20, 160 << 20, 1 << 20)):
        found, sentence = abreast(launch, 8, with_room_for(launch, host))
        assert found.load == replace(launch.load, sequences=found.load.sequences)
        counts.append(found.load.sequences)
        if 1 < counts[-1] < 8:
            assert f"memory for {counts[-1]} at once" in sentence and "the others wait" in sentence
        if counts[-1] == 1:
            assert "one after the other" in sentence
    # The more room, the more of them.
    assert counts == sorted(counts)
    assert counts[0] == 1 and counts[-1] == 8 and len(set(counts)) > 2


@pytest.mark.usefixtures("home")
def test_what_is_not_known_is_not_risked(story: Pair) -> None:
    launch = replace(launched(story), planned=None)
    assert abreast(launch, 4)[0] == launch

"""How many sequences are planned for work of which only the end matters."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gemma_local.engine.hardware.machine import Machine
from gemma_local.engine.plan.choice import require
from gemma_local.engine.plan.errors import DoesNotFit
from gemma_local.engine.plan.parallel import COUNTS, Parallel, Work, plan_parallel
from gemma_local.engine.plan.room import room_of
from gemma_local.engine.plan.settings import Wishes
from tests.engine.hardware.recorded import NAMES
from tests.engine.plan.machines import GIB, candidate, card, machine, recorded_machine

ANSWERS = Work(prompt=100, answer=400, context=1024)
READING = Work(prompt=4000, answer=100, context=8192)


def planned(here: Machine, label: str, work: Work, wishes: Wishes | None = None) -> Parallel:
    return plan_parallel(here, candidate(label), wishes or Wishes(), work)


def sequences(found: Parallel) -> int:
    assert found.planned.settings is not None
    return found.planned.settings.sequences


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("label", ["E2B", "26B-A4B"])
def test_no_more_than_fit_and_the_context_is_that_of_the_work(name: str, label: str) -> None:
    here = recorded_machine(name)
    found = planned(here, label, ANSWERS)
    settings = found.planned.settings
    if settings is None:
        assert found.planned.missing is not None
        return
    assert settings.sequences in COUNTS and settings.context == ANSWERS.context
    fitting = require(found.planned, room_of(here))
    assert fitting.footprint.host <= room_of(here).host
    assert "tokens/s in all" in found.why


@pytest.mark.parametrize("label", ["12B", "26B-A4B", "31B"])
def test_a_card_answers_many_at_once(label: str) -> None:
    here = machine(accelerators=(card(48),), available=50 * GIB, total=64 * GIB)
    assert sequences(planned(here, label, ANSWERS)) >= 4


def test_where_prompts_take_the_time_it_is_one() -> None:
    here = recorded_machine("virtual-machine-2-cores")
    found = planned(here, "E2B", READING)
    assert sequences(found) == 1
    assert "hardly sooner" in found.why


def test_memory_bounds_it_and_so_do_the_requests() -> None:
    roomy, tight = machine(accelerators=(card(24),)), machine(accelerators=(card(18),))
    work = replace(ANSWERS, context=8192)
    assert sequences(planned(roomy, "26B-A4B", work)) > sequences(planned(tight, "26B-A4B", work))
    assert "no memory for" in planned(tight, "26B-A4B", work).why
    assert sequences(planned(roomy, "26B-A4B", replace(work, requests=3))) == 2
    assert sequences(planned(roomy, "26B-A4B", replace(work, requests=1))) == 1


def test_what_was_wished_for_is_done_or_refused() -> None:
    here = recorded_machine("virtual-machine-2-cores")
    found = planned(here, "E2B", ANSWERS, Wishes(sequences=3, context=2048))
    assert sequences(found) == 3
    assert found.planned.settings is not None and found.planned.settings.context == 2048
    much = planned(here, "E2B", ANSWERS, Wishes(sequences=64, context=131072))
    with pytest.raises(DoesNotFit, match="smaller --ctx"):
        require(much.planned, room_of(here))

"""``gemma-local doctor``: one screen about any machine, whatever part of it cannot be found out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gemma_local.app import folders
from gemma_local.app.agent.run.sandbox import Offer
from gemma_local.app.confirmation import confirm
from gemma_local.app.doctor import command as doctor
from gemma_local.app.doctor import examination
from gemma_local.app.doctor.arguments import DoctorOptions
from gemma_local.app.doctor.examination import Examination, examine
from gemma_local.app.doctor.screen import WIDTH, screen
from gemma_local.app.doctor.troubles import Trouble, troubles_of
from gemma_local.engine.hardware.bandwidth import Bandwidth
from gemma_local.engine.plan.candidate import candidate_of_files
from gemma_local.engine.plan.choice import plan, plan_one
from gemma_local.engine.plan.history import Run, machine_key
from gemma_local.models.drafter import inspect_drafter
from gemma_local.models.target import inspect_target
from tests.app.running import Command
from tests.engine.hardware.recorded import NAMES
from tests.engine.plan.machines import candidates, recorded_machine
from tests.ggufs import Drafter, build, script

SECTIONS = ("This machine", "Models here", "What runs here", "How ", "Problems")


def examined(name: str) -> Examination:
    """What doctor would find on a recorded machine with nothing installed."""
    where = recorded_machine(name)
    found = plan(where, candidates())
    return Examination(
        versions={"python": "3.12.1", "gemma-local": "0.1.0", "llama-cpp-python": "0.3.36"},
        machine=where,
        bandwidth=Bandwidth(21e9, 0.05, 2, 9, 1 << 28),
        models=(),
        plan=found,
        confirmation=None,
        runs=(),
        sandbox=Offer(abi=5),
        troubles=troubles_of(where, found, (), ()),
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_recorded_machine_gets_one_screen_of_80_columns(name: str) -> None:
    found = examined(name)
    commands = {trouble.remedy for trouble in found.troubles}
    lines = screen(found, None).splitlines()
    for line in lines:
        # A command is not broken: it is there to be copied.
        assert len(line) <= WIDTH or line.strip() in commands
    assert len(lines) < 70
    for size in candidates():
        assert any(size.label in line for line in lines)


def test_a_build_for_another_processor_is_broken_and_has_its_remedy() -> None:
    found = examined("without-avx2")
    assert found.is_broken
    worst = found.troubles[0]
    assert "another processor" in worst.sentence
    assert worst.remedy.startswith("python -m pip install ")
    assert "  ! " in screen(found, None)
    assert not examined("virtual-machine-2-cores").is_broken


def test_an_idle_card_has_its_remedy() -> None:
    found = examined("nvidia-12gb-cpu-build")
    assert not found.is_broken
    remedy = next(t.remedy for t in found.troubles if "idle" in t.sentence)
    assert "whl/cu" in remedy
    assert remedy in screen(found, None)


def test_what_confines_commands_is_said_with_what_it_leaves_open() -> None:
    found = examined("virtual-machine-2-cores")

    def commands(offer: Offer) -> str:
        shown = " ".join(screen(replace(found, sandbox=offer), None).split())
        return shown.partition(" commands ")[2].partition(" gemma-local 0.1.0")[0]

    assert commands(Offer(6, has_namespaces=True)) == "confined by namespaces and Landlock"
    assert commands(Offer(5)).startswith("confined by Landlock (version 5); services of this")
    assert "signals reach your other processes" in commands(Offer(5))
    assert commands(Offer()).startswith("nothing confines what a model runs; ")


def test_another_size_can_be_explained_even_if_it_does_not_fit() -> None:
    found = examined("virtual-machine-2-cores")
    assert "How E4B would run\n  context" in screen(found, "E4B")
    assert "How 31B would run\n  not at all" in screen(found, "31B")


def test_forecasts_stand_beside_what_was_measured() -> None:
    found = examined("virtual-machine-2-cores")
    run = Run(
        at=1.0,
        machine=machine_key(found.machine),
        label="E2B",
        is_mixture=False,
        quantisation="Q4_0",
        context=8192,
        gpu_layers=0,
        threads=2,
        draft=3,
        forecast_plain=10.0,
        forecast_drafted=12.0,
        forecast_prefill=20.0,
        has_bandwidth=True,
        plain=14.2,
        drafted=16.9,
        peak_bytes=2_400_000_000,
    )
    shown = screen(replace(found, runs=(run,)), None)
    assert "plain 14 (forecast 10), drafted 17 (forecast 12)" in " ".join(shown.split())
    assert "2.40 GB" in shown


def test_what_fails_costs_only_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("out of cheese")

    for name in ("installed_library", "memory_speed", "survey"):
        monkeypatch.setattr(examination, name, fail)
    found = examine()
    assert (found.bandwidth, found.models, found.plan) == (None, (), None)
    assert sum("out of cheese" in trouble.sentence for trouble in found.troubles) == 3
    assert not found.is_broken
    assert "This machine" in screen(found, None)
    json.dumps(found.as_json())


@pytest.mark.parametrize("is_broken", [False, True])
def test_the_exit_status_says_whether_something_is_broken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], is_broken: bool
) -> None:
    found = examined("virtual-machine-2-cores")
    troubles = (Trouble("Something is loose.", is_broken=is_broken),)
    monkeypatch.setattr(doctor, "examine", lambda: replace(found, troubles=troubles))
    assert doctor.run(DoctorOptions(json=True)) == int(is_broken)
    assert json.loads(capsys.readouterr().out)["ok"] is not is_broken


def test_this_machine(command: Command, tmp_path: Path) -> None:
    done = command.run("doctor", HF_HOME=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    for section in SECTIONS:
        assert f"\n{section}" in f"\n{done.stdout}"
    said = json.loads(command.run("doctor", "--json", HF_HOME=str(tmp_path)).stdout)
    assert said["ok"] is True
    assert [size["size"] for size in said["plan"]["sizes"]] == [c.label for c in candidates()]
    assert said["machine"]["cpu"]["usable_cores"] >= 1


def test_sizes_that_there_are_not(command: Command) -> None:
    done = command.run("doctor", "--size", "7B")
    assert (done.returncode, done.stdout) == (2, "")
    assert "E2B" in done.stderr
    assert command.run("doctor", "--colour").returncode == 2


def test_the_planned_memory_is_held_against_llama_cpp_s_own(
    ggufs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "buffers_path", lambda: tmp_path)
    files = build("dense", script(["Hi"]), ggufs / "confirmed", drafter=Drafter(wrong_every=3))
    target = inspect_target(files.target)
    candidate = candidate_of_files(target, inspect_drafter(files.drafter))
    size = plan_one(recorded_machine("virtual-machine-2-cores"), candidate)
    confirmed = confirm(size)
    assert confirmed is not None
    assert 0 < confirmed.confirmed <= confirmed.planned * 1.3
    assert "llama.cpp itself plans" in screen(
        replace(examined("virtual-machine-2-cores"), confirmation=confirmed), None
    )

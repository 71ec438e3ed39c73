"""Whatever a probe answers, says nothing or fails with: something is found out, nothing raises."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemma_local.engine.hardware.detection import detect
from gemma_local.engine.hardware.devices import DeviceList
from gemma_local.engine.hardware.machine import Machine
from gemma_local.engine.hardware.probes import Battery, Facts, MemoryFacts
from tests.engine.hardware.recorded import NAMES, RecordedProbes, machine, store

QUESTIONS = (
    "read_file",
    "list_folder",
    "run",
    "facts",
    "memory",
    "battery",
    "disk_free",
    "devices",
)
ERRORS = (
    OSError("broken"),
    ValueError("odd"),
    RuntimeError(""),
    KeyError("x"),
    PermissionError(13, "no"),
)
GARBAGE = st.sampled_from(
    ["", "\n", "\0", "-1", "nan", "max", "0x", ": : :", "9" * 400, "a,b-c,1-"]
)


@dataclass
class Failing:
    """The answers of a record, but one question always fails."""

    probes: RecordedProbes
    question: str
    error: Exception

    def __getattr__(self, name: str) -> Any:
        if name == self.question:
            return self._fail
        return getattr(self.probes, name)

    def _fail(self, *_words: object) -> Any:
        raise self.error


def check(found: Machine) -> None:
    assert found.cpu.usable_cpus >= 1 and found.cpu.usable_cores >= 1
    assert found.memory.available is None or found.memory.available >= 0
    for problem in found.problems:
        assert problem and "\n" not in problem and "Traceback" not in problem
    json.dumps(found.as_json())


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("name", NAMES)
def test_a_question_that_fails_costs_its_answer_only(name: str, question: str) -> None:
    for error in ERRORS:
        fail(machine(name), question, error)


def fail(probes: RecordedProbes, question: str, error: Exception) -> None:
    """Check a machine of which one question cannot be answered."""
    found = detect(Failing(probes, question, error), store=store(probes))
    check(found)
    if question in ("facts", "memory", "disk_free", "devices"):
        assert found.problems
    if question == "devices":
        assert found.memory.total == probes.known_memory.total and found.cpu.name
    if question == "memory":
        assert found.cpu.name and found.build.backends


@pytest.mark.parametrize("name", NAMES)
def test_without_files_and_programs_what_python_knows_is_left(name: str) -> None:
    probes = machine(name)
    probes.files.clear()
    probes.commands.clear()
    found = detect(probes)
    check(found)
    assert found.memory.available == probes.known_memory.available
    assert found.cpu.usable_cpus == len(probes.known.affinity or range(found.cpu.logical_cpus or 1))


@given(data=st.data(), name=st.sampled_from(NAMES))
@settings(max_examples=50, deadline=None)
def test_garbage_in_any_answer(data: st.DataObject, name: str) -> None:
    probes = machine(name)
    text = GARBAGE | st.text(max_size=40)
    for answers in (probes.files, probes.commands):
        if answers:
            for key in data.draw(st.sets(st.sampled_from(sorted(answers)))):
                answers[key] = data.draw(text)
    check(detect(probes, store=store(probes)))


@given(data=st.data(), name=st.sampled_from(NAMES))
@settings(max_examples=40, deadline=None)
def test_answers_that_end_in_the_middle(data: st.DataObject, name: str) -> None:
    probes = machine(name)
    for answers in (probes.files, probes.commands):
        for key, text in answers.items():
            if data.draw(st.booleans()):
                answers[key] = text[: data.draw(st.integers(0, len(text)))]
    check(detect(probes, store=store(probes)))


@given(
    facts=st.builds(
        Facts,
        system=st.sampled_from(["Linux", "Darwin", "Windows", "FreeBSD", ""]),
        version=st.text(max_size=5),
        kernel=st.text(max_size=8),
        architecture=st.sampled_from(["x86_64", "AMD64", "arm64", "aarch64", "riscv64", ""]),
        logical_cpus=st.none() | st.integers(0, 512),
        physical_cores=st.none() | st.integers(0, 256),
        affinity=st.none() | st.lists(st.integers(0, 600), max_size=8).map(tuple),
        windows_features=st.none() | st.lists(st.integers(0, 60)).map(tuple),
    ),
    total=st.integers(0, 1 << 42),
    available=st.integers(0, 1 << 42),
    system_info=st.text(max_size=60) | st.just("CPU : = | CPU = 1 | : 4"),
)
@settings(max_examples=40, deadline=None)
def test_any_facts(facts: Facts, total: int, available: int, system_info: str) -> None:
    probes = RecordedProbes(
        facts,
        MemoryFacts(total, available, 0, 0),
        Battery(50.0, None),
        DeviceList(system_info=system_info),
    )
    check(detect(probes))

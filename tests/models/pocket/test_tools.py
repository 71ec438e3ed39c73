"""Sessions with tools in the corpus are what the program declares, and what its tools return."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from gemma_local.app.agent.terms import Terms
from gemma_local.app.agent.workbench import Workbench
from gemma_local.app.stop import Stop
from gemma_local.models.message import Value
from gemma_local.models.pocket.train.corpus import running, workspace
from gemma_local.models.pocket.train.corpus.changing import write_session
from gemma_local.models.pocket.train.corpus.sample import Sample
from gemma_local.models.pocket.train.corpus.tool_head import Head
from gemma_local.models.pocket.train.corpus.tool_steps import edit_step
from gemma_local.models.pocket.train.tools import TERSE_RULES, TERSE_TOOLS, TOOLS


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Workbench]:
    bench = Workbench.open(tmp_path, 8192, Terms(), len, is_terse=True)
    yield bench
    bench.close()


def _result(bench: Workbench, name: str, arguments: Mapping[str, Value]) -> str:
    tool = next(tool for tool in bench.tools if tool.declaration.name == name)
    return tool.step(arguments).carry_out(Stop(), lambda _: None).text


def _put(folder: Path, file: workspace.File) -> None:
    place = folder / file.path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(file.text + "\n", "utf-8")


def _told(sample: Sample) -> str:
    """What the first call of a session returned."""
    return next(message.text for message in sample.messages if message.role == "tool")


def test_tools_are_declared_as_the_program_declares_them(tmp_path: Path, bench: Workbench) -> None:
    assert tuple(tool.declaration for tool in bench.tools) == TERSE_TOOLS
    assert bench.instructions.text == TERSE_RULES
    assert not bench.examples
    usual = Workbench.open(tmp_path, 8192, Terms(), len)
    assert tuple(tool.declaration for tool in usual.tools) == TOOLS
    usual.close()


def test_files_are_read_as_in_the_corpus(tmp_path: Path, bench: Workbench) -> None:
    rng = random.Random(1)
    for _ in range(30):
        file = workspace.any_file(rng, "train")
        _put(tmp_path, file)
        limit = rng.choice((0, 1, 2))
        arguments: dict[str, Value] = {"path": file.path, **({"limit": limit} if limit else {})}
        found = _result(bench, "read", arguments)
        told = {workspace.shown(file, rng, limit) for _ in range(40)}
        assert found in told


def test_edits_return_what_they_do_in_the_corpus(tmp_path: Path, bench: Workbench) -> None:
    rng = random.Random(2)
    seen = 0
    while seen < 30:
        file = workspace.settings_file(rng, "train")
        key, at = rng.choice(file.places)
        old = file.lines[at]
        if file.text.count(old) > 1:
            continue
        seen += 1
        _put(tmp_path, file)
        _result(bench, "read", {"path": file.path})
        name, arguments, told, _ = edit_step(file, old, f"{key}_x = 1")
        assert _result(bench, name, arguments) == told


def test_new_files_are_reported_as_in_the_corpus(tmp_path: Path, bench: Workbench) -> None:
    rng = random.Random(3)
    for _ in range(20):
        sample = write_session(rng, "train", Head())
        (call,) = next(message.calls for message in sample.messages if message.calls)
        (tmp_path / str(call.arguments["path"])).unlink(missing_ok=True)
        first, *_ = _result(bench, "write", call.arguments).split("\n")
        assert first == _told(sample)


def test_commands_return_what_they_do_in_the_corpus(bench: Workbench) -> None:
    rng = random.Random(4)
    found = _result(bench, "run", {"command": "echo brunk"}).split("\n")
    told = running.ran(rng, "brunk").split("\n")
    assert found[1:] == told[1:]
    assert found[0].startswith("exit status 0, ")
    assert told[0].startswith("exit status 0, ")


def test_plans_return_what_they_do_in_the_corpus(bench: Workbench) -> None:
    rng = random.Random(5)
    for _ in range(10):
        sample = running.todo_session(rng, "train", Head())
        (call,) = next(message.calls for message in sample.messages if message.calls)
        assert _result(bench, "todo", call.arguments) == _told(sample)

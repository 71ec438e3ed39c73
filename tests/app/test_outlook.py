"""What a model on the hub would be like here, told from a range of its first bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from huggingface_hub import close_session

from gemma_local.app import folders
from gemma_local.app.models_command import getting
from gemma_local.app.models_command import outlook as looking
from gemma_local.app.models_command.options import GetOptions
from gemma_local.app.models_command.outlook import outlook, remote_target
from gemma_local.models.store.hub import Hub
from gemma_local.models.store.hub_cache import HubCache
from gemma_local.models.store.library import Library
from gemma_local.models.target import inspect_target
from tests.engine.plan.machines import recorded_machine
from tests.ggufs import Drafter, Random, build, script
from tests.hub import HubServer

REPOSITORY = "maker/gemma-4-tiny-GGUF"


@pytest.fixture
def hub() -> Iterator[HubServer]:
    with HubServer() as server:
        yield server
    close_session()


def test_a_range_of_the_first_bytes_is_enough(
    hub: HubServer, ggufs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = build("edge", Random(), ggufs / "served").target
    content = target.read_bytes() + bytes(4 << 20)
    hub.commit(REPOSITORY, {"model.gguf": content, "notes.gguf": b"no model" * 1000})
    client = Hub(hub.endpoint)
    files = client.look_up(REPOSITORY, None).files
    # Less than the header: it is asked for again, and never the whole file.
    monkeypatch.setattr(looking, "FIRST_BYTES", 4096)
    facts = remote_target(client, files["model.gguf"])
    there = inspect_target(target)
    assert facts.block_count == there.block_count
    assert facts.anatomy.kv_layers == there.anatomy.kv_layers
    machine = recorded_machine("virtual-machine-2-cores")
    sentence = outlook(client, files["model.gguf"], machine)
    assert "fits, with a context of" in sentence and "tokens/s" in sentence
    tight = replace(machine, memory=replace(machine.memory, total=1 << 20, available=1 << 20))
    assert "does not fit" in outlook(client, files["model.gguf"], tight)
    # What is no model gets no forecast, and no error either.
    assert outlook(client, files["notes.gguf"], machine) == ""
    offline = Hub(hub.endpoint, offline=True)
    assert outlook(offline, files["model.gguf"], machine) == ""


def test_a_download_tells_what_comes_before_and_what_it_needs_after(
    hub: HubServer,
    ggufs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pair = build("dense", script(["Hi"]), ggufs / "got", drafter=Drafter(wrong_every=3))
    files = {"m.gguf": pair.target.read_bytes(), "mtp-m.gguf": pair.drafter.read_bytes()}
    hub.commit(REPOSITORY, files)
    # Nobody is to wait for gigabytes here.
    monkeypatch.setattr(getting, "ASK_FROM", 1)
    monkeypatch.setattr(getting, "Hub", lambda offline: Hub(hub.endpoint, offline=offline))
    monkeypatch.setattr(folders, "buffers_path", lambda: tmp_path / "buffers")
    library = Library(tmp_path / "models", HubCache(tmp_path / "hub"))
    options = GetOptions(what=f"{REPOSITORY}:m.gguf", yes=True)
    assert getting.get(options, library) == 0
    told = capsys.readouterr().err
    assert told.index("fits, with a context of") < told.index("m.gguf (")
    assert "llama.cpp itself plans" in told
    assert list((tmp_path / "buffers").iterdir())

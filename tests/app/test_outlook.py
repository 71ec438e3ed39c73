"""What a model on the hub would be like here, told from a range of its first bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from huggingface_hub import close_session

from gemma_local.app.models_command import outlook as looking
from gemma_local.app.models_command.outlook import outlook, remote_target
from gemma_local.models.store.hub import Hub
from gemma_local.models.target import inspect_target
from tests.engine.plan.machines import recorded_machine
from tests.ggufs import Random, build
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

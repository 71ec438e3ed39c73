"""What a model on the hub would be like here, told from a range of its first bytes."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
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
from tests.hub import HubServer, sha256
from tests.models.store.local_files import split_target
from tests.waiting import PATIENCE

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


@pytest.fixture
def library(
    hub: HubServer, ggufs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Library:
    """An empty one, whose hub has a pair; a byte is as much to download as gigabytes are."""
    pair = build("dense", script(["Hi"]), ggufs / "got", drafter=Drafter(wrong_every=3))
    # A drafter is much smaller than its model.
    content = pair.target.read_bytes() + bytes(4 << 20)
    hub.commit(REPOSITORY, {"m.gguf": content, "mtp-m.gguf": pair.drafter.read_bytes()})
    # Nobody is to wait for gigabytes here.
    monkeypatch.setattr(getting, "ASK_FROM", 1)
    monkeypatch.setattr(getting, "Hub", lambda offline: Hub(hub.endpoint, offline=offline))
    monkeypatch.setattr(folders, "buffers_path", lambda: tmp_path / "buffers")
    return Library(tmp_path / "models", HubCache(tmp_path / "hub"))


def test_a_download_tells_what_comes_before_and_what_it_needs_after(
    library: Library, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = GetOptions(what=f"{REPOSITORY}:m.gguf", yes=True)
    assert getting.get(options, library) == 0
    told = capsys.readouterr().err
    assert told.index("fits, with a context of") < told.index("m.gguf (")
    assert "llama.cpp itself plans" in told
    assert list((tmp_path / "buffers").iterdir())


def test_a_drafter_may_come_later_and_nothing_is_foretold_then(
    library: Library, hub: HubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    what = f"{REPOSITORY}:m.gguf"
    assert getting.get(GetOptions(what=what, drafter=False, yes=True), library) == 0
    capsys.readouterr()
    # Without the network the model is good enough.
    assert getting.get(GetOptions(what=what, offline=True), library) == 0
    assert "no drafter came with it" in capsys.readouterr().err
    before = hub.sent[sha256(_served(hub, "m.gguf"))]
    assert getting.get(GetOptions(what=what, yes=True), library) == 0
    told = capsys.readouterr().err
    assert "mtp-m.gguf (" in told and "m.gguf (4" not in told and "fits, with" not in told
    # Of the model itself no more than a look at its header.
    assert hub.sent[sha256(_served(hub, "m.gguf"))] - before < 1 << 18
    assert [model.name for model in library.models()] == ["m", "mtp-m"]


def test_of_parts_nothing_is_foretold(
    library: Library, hub: HubServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A header is that of the whole model, and a part is not all of it."""
    parts = split_target(tmp_path)
    hub.commit("maker/parts", {part.name: part.read_bytes() for part in parts})
    first = GetOptions(what=f"maker/parts:{parts[0].name}", drafter=False, yes=True)
    assert getting.get(first, library) == 0
    out, told = capsys.readouterr()
    assert Path(out.strip()).name == parts[0].name
    assert all(f"{part.name} (" in told for part in parts) and "fits, with" not in told


def _served(hub: HubServer, name: str) -> bytes:
    repository = hub.repositories[REPOSITORY]
    return repository.commits[repository.main][name]


@pytest.mark.skipif(os.name == "nt", reason="has no pty")
@pytest.mark.parametrize("answer", ["n", "y"])
def test_a_person_is_asked_before_gigabytes_come(
    library: Library,
    hub: HubServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    answer: str,
) -> None:
    import pty

    keyboard, terminal = pty.openpty()
    os.write(keyboard, f"{answer}\n".encode())
    told = ""

    def listen() -> None:
        nonlocal told
        # Linux has an error for a terminal that nobody has open any more.
        with suppress(OSError):
            while heard := os.read(keyboard, 1 << 16):
                told += heard.decode()

    hearing = threading.Thread(target=listen)
    hearing.start()
    with (
        monkeypatch.context() as patch,
        os.fdopen(os.dup(terminal), encoding="utf-8") as stdin,
        os.fdopen(terminal, "w", encoding="utf-8") as stderr,
    ):
        patch.setattr(sys, "stdin", stdin)
        patch.setattr(sys, "stderr", stderr)
        assert getting.get(GetOptions(what=f"{REPOSITORY}:m.gguf"), library) == 0
    hearing.join(PATIENCE)
    os.close(keyboard)
    assert f"from {REPOSITORY} into" in told and "Go on? [y/N]" in told
    assert ("nothing was fetched" in told) is (answer == "n")
    came = capsys.readouterr().out.strip()
    assert Path(came).is_file() if answer == "y" else came == ""
    assert [model.name for model in library.models()] == (["m", "mtp-m"] if came else [])

"""Finding the drafter of a repository by what its files are, with a few small requests."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemma_local.models.store.remote_drafter import find_remote_drafter, remote_architecture
from tests.hub import HubServer
from tests.models.gguf_bytes import Gguf
from tests.models.store import local_files as make
from tests.models.store.conftest import REPOSITORY, Getter

PAD = bytes(1 << 20)


def find(getter: Getter, target: str) -> str | None:
    hub = getter.store.hub
    snapshot = hub.look_up(REPOSITORY)
    found = find_remote_drafter(hub, snapshot, snapshot.files[target])
    return None if found is None else found.file


@pytest.fixture
def contents(server: HubServer, tmp_path: Path) -> dict[str, bytes]:
    """Small files; the hub has no other."""
    server.repositories.clear()
    return {
        "target": make.target(tmp_path).read_bytes() + PAD,
        "drafter": make.drafter(tmp_path).read_bytes(),
        "projector": make.projector(tmp_path).read_bytes(),
        "guest": Gguf({"general.architecture": "llama"}).to_bytes() + PAD,
    }


def test_the_smallest_drafter_beside_the_target_wins(
    getter: Getter, contents: dict[str, bytes]
) -> None:
    files = {
        "model.gguf": contents["target"],
        "a-small-one.gguf": contents["projector"],
        "what.gguf": contents["drafter"] + bytes(999),
        "MTP/small.gguf": contents["drafter"],
        "other/MTP/draft.gguf": contents["drafter"],
    }
    getter.server.commit(REPOSITORY, files)
    assert find(getter, "model.gguf") == "what.gguf"
    asked = [r for r in getter.server.requests_for("/resolve/") if r.method == "GET"]
    assert len(asked) == 3 and all(r.headers["range"].startswith("bytes=0-") for r in asked)
    assert sum(getter.server.sent.values()) < 3 << 16


def test_a_folder_of_drafters_and_a_model_in_a_folder(
    getter: Getter, contents: dict[str, bytes]
) -> None:
    getter.server.commit(
        REPOSITORY,
        {
            "Q4/model.gguf": contents["target"],
            "Q4/MTP/big.gguf": contents["drafter"] + bytes(99),
            "Q4/MTP/small.gguf": contents["drafter"],
            "draft.gguf": contents["drafter"],
        },
    )
    assert find(getter, "Q4/model.gguf") == "Q4/MTP/small.gguf"


def test_where_there_is_none(getter: Getter, contents: dict[str, bytes]) -> None:
    getter.server.commit(
        REPOSITORY,
        {
            "guest.gguf": contents["guest"],
            "model.gguf": contents["target"],
            "mtp-no-drafter.gguf": contents["projector"],
            "page.gguf": b"<html>",
            "nothing.gguf": b"",
            "another-quant.gguf": contents["target"] + PAD,
        },
    )
    assert find(getter, "model.gguf") is None
    # Nothing of the size of a model was looked into.
    asked = {request.path.rpartition("/")[2] for request in getter.server.requests_for("/resolve/")}
    assert asked == {"model.gguf", "mtp-no-drafter.gguf", "page.gguf"}
    getter.server.commit(REPOSITORY, {"draft.gguf": contents["drafter"]})
    assert find(getter, "guest.gguf") is None


def test_a_header_that_goes_on_beyond_what_was_fetched(
    getter: Getter, contents: dict[str, bytes]
) -> None:
    late = Gguf({"long": "x" * 100_000, "general.architecture": "gemma4"}).to_bytes()
    getter.server.commit(REPOSITORY, {"late.gguf": late})
    hub = getter.store.hub
    assert remote_architecture(hub, hub.look_up(REPOSITORY).files["late.gguf"]) is None

"""A hub, a cache and a store of this test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random as Noise

import pytest
from huggingface_hub import close_session

from gemma_local.models.store.file_record import FileRecord
from gemma_local.models.store.hub import Hub
from gemma_local.models.store.hub_cache import HubCache
from gemma_local.models.store.patience import Patience
from gemma_local.models.store.progress import Event, Progress, Remark
from gemma_local.models.store.store import Store
from gemma_local.models.store.wanted import Wanted
from tests.ggufs import Pair, Random, build
from tests.hub import HubServer, sha256

REPOSITORY = "maker/gemma-4-tiny-GGUF"
QUICK = Patience(attempts=4, first_wait=0.01, longest_wait=0.02, stall=10.0, connect=10.0)
"""Short between attempts, and long where a busy machine may be slow."""


@dataclass(frozen=True)
class Files:
    """What the hub serves: a real pair, padded to a few MB as a GGUF may be."""

    target: bytes
    drafter: bytes
    pair: Pair

    def wanted(self, *, revision: str | None = None, sha: bool = True) -> list[Wanted]:
        return [
            Wanted(REPOSITORY, name, revision, len(content), sha256(content) if sha else None)
            for name, content in (("target.gguf", self.target), ("mtp-drafter.gguf", self.drafter))
        ]


def target_only(files: Files) -> list[Wanted]:
    return files.wanted()[:1]


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    pair = build("edge", Random(), tmp_path_factory.mktemp("served"))
    noise = Noise(1)
    return Files(
        pair.target.read_bytes() + noise.randbytes(2 << 20),
        pair.drafter.read_bytes() + noise.randbytes(1 << 20),
        pair,
    )


@pytest.fixture(autouse=True)
def _own_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No proxy and no token of whoever runs the tests."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    close_session()
    yield
    close_session()


@pytest.fixture
def server(files: Files) -> Iterator[HubServer]:
    with HubServer() as hub:
        hub.commit(
            REPOSITORY,
            {
                "target.gguf": files.target,
                "mtp-drafter.gguf": files.drafter,
                "README.md": b"# A tiny pair\n",
            },
        )
        yield hub


@pytest.fixture
def cache(tmp_path: Path) -> HubCache:
    return HubCache(tmp_path / "hub")


@dataclass
class Getter:
    """A store, and what was told while it worked."""

    server: HubServer
    cache: HubCache
    folder: Path
    patience: Patience = QUICK
    offline: bool = False

    def __post_init__(self) -> None:
        self.events: list[Event] = []
        self.remarks: list[str] = []

    @property
    def store(self) -> Store:
        hub = Hub(self.server.endpoint, offline=self.offline, patience=self.patience)
        return Store(hub, self.cache, FileRecord(self.folder / "verified.json"))

    def get(self, wanted: list[Wanted], *, update: bool = False) -> list[Path]:
        store = self.store
        plan = store.plan(wanted, update=update, on_trouble=self.remarks.append)
        self.remarks += plan.remarks
        return store.carry_out(plan, self._on_event)

    def partials(self) -> list[Path]:
        """What there is of downloads that did not end."""
        return sorted(self.cache.folder.rglob("*.incomplete"))

    @property
    def progress(self) -> list[Progress]:
        return [event for event in self.events if isinstance(event, Progress)]

    def _on_event(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, Remark):
            self.remarks.append(event.text)


@pytest.fixture
def getter(server: HubServer, cache: HubCache, tmp_path: Path) -> Getter:
    return Getter(server, cache, tmp_path / "models")

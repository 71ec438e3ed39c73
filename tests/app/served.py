"""A pair on a hub of this test, and the download of it into a cache of this test."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random as Noise

import pytest
from huggingface_hub import close_session

from gemma_local.app.fetching import Fetching, FetchState
from gemma_local.app.models_command.choice import Choice
from gemma_local.models.store.hub import Hub
from gemma_local.models.store.hub_cache import HubCache
from gemma_local.models.store.library import Library
from gemma_local.models.store.patience import Patience
from gemma_local.models.store.store import Store
from gemma_local.models.store.wanted import Wanted
from tests.ggufs import Pair
from tests.hub import HubServer, sha256
from tests.waiting import PATIENCE

REPOSITORY = "maker/gemma-4-tiny-GGUF"
TARGET, DRAFTER = "tiny-Q4.gguf", "MTP/mtp-tiny.gguf"
QUICK = Patience(
    attempts=3, first_wait=0.05, longest_wait=0.1, stall=2 * PATIENCE, connect=PATIENCE
)
"""Short between attempts, and long where a busy machine may be slow."""


@dataclass(frozen=True)
class Served:
    """The hub, what it has, and the store that it is fetched into."""

    hub: HubServer
    target: bytes
    drafter: bytes
    store: Store

    @property
    def sent(self) -> int:
        """Bytes of files that went out so far."""
        return sum(self.hub.sent.values())

    def fetching(self, *, offline: bool = False, sha: bool = True) -> Fetching:
        """The download of the pair, not yet begun."""
        wanted = [
            Wanted(REPOSITORY, name, None, len(content), sha256(content) if sha else None)
            for name, content in ((TARGET, self.target), (DRAFTER, self.drafter))
        ]
        self.store.hub.offline = offline
        choice = Choice((wanted[0],), wanted[1], None)
        return Fetching(choice, "Gemma 4 tiny", store=lambda: self.store)


@contextmanager
def served(story: Pair, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A hub with the pair, its target padded to 5 MB; without the network of who runs the tests."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    target = story.target.read_bytes() + Noise(1).randbytes(5_000_000)
    drafter = story.drafter.read_bytes()
    close_session()
    with HubServer() as hub:
        hub.commit(REPOSITORY, {TARGET: target, DRAFTER: drafter})
        library = Library(folder / "models", HubCache(folder / "hub"))
        store = Store(Hub(hub.endpoint, patience=QUICK), library.cache, library.verified)
        yield Served(hub, target, drafter, store)
    close_session()


def wait_for(fetching: Fetching, holds: Callable[[FetchState], bool]) -> FetchState:
    """The first state for which something holds."""
    end = time.monotonic() + PATIENCE
    while not holds(state := fetching.state()):
        assert time.monotonic() < end, state
        time.sleep(0.005)
    return state

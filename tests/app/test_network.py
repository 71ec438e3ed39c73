"""Whether there is a network, without a packet that leaves."""

from __future__ import annotations

import socket

import pytest

from gemma_local.app import network

HERE = (socket.AF_INET, "127.0.0.1")
NOWHERE = (socket.AF_INET, "192.0.2.1")
"""See tests/offline."""


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for scheme in ("http", "https", "all"):
        monkeypatch.delenv(f"{scheme}_proxy", raising=False)
        monkeypatch.delenv(f"{scheme}_proxy".upper(), raising=False)


@pytest.mark.parametrize(
    ("places", "there_is"),
    [((HERE,), True), ((NOWHERE,), False), ((NOWHERE, HERE), True), ((), False)],
)
def test_one_way_out_is_enough(
    monkeypatch: pytest.MonkeyPatch,
    places: tuple[tuple[socket.AddressFamily, str], ...],
    there_is: bool,
) -> None:
    monkeypatch.setattr(network, "_FAR_AWAY", places)
    assert network.has_network() is there_is


@pytest.mark.parametrize("name", ["https_proxy", "HTTPS_PROXY", "all_proxy"])
def test_a_proxy_may_know_a_way(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(network, "_FAR_AWAY", ())
    monkeypatch.setenv(name, "http://proxy:3128")
    assert network.has_network()

"""How much memory checkpoints and parked conversations get, for the shapes of the real models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gemma_local.engine.commands import MIB
from gemma_local.engine.memory import cache_bytes
from gemma_local.models.attention import AttentionLayers
from gemma_local.models.target import TargetFacts, inspect_target
from tests.ggufs import build, script

GIB = 1024 * MIB


def layers(count: int, every: int, window: int, kv_heads: int, owning: int) -> AttentionLayers:
    """Layers of which each ``every``-th is full."""
    return AttentionLayers(
        sliding=tuple((i + 1) % every != 0 for i in range(count)),
        window=window,
        heads=(16,) * count,
        kv_heads=(kv_heads,) * count,
        full_head_size=512,
        sliding_head_size=256,
        owning=owning,
    )


E2B = layers(35, 5, 512, 1, 15)
LARGE = layers(60, 6, 1024, 16, 60)


@pytest.fixture
def facts(ggufs: Path) -> TargetFacts:
    return inspect_target(build("dense", script(["Hi"]), ggufs).target)


@pytest.mark.parametrize(("shape", "window"), [(E2B, 6 * MIB), (LARGE, 800 * MIB)])
def test_a_window_s_size(shape: AttentionLayers, window: int) -> None:
    assert shape.window_bytes(2) == window


@pytest.mark.parametrize(
    ("shape", "available", "wanted"),
    [
        (E2B, 8 * GIB, 512 * MIB),
        (E2B, GIB, 256 * MIB),
        (E2B, 0, 64 * MIB),
        (LARGE, 64 * GIB, 3200 * MIB),
        (LARGE, 4 * GIB, GIB),
    ],
)
def test_it_follows_from_the_model_and_the_memory(
    facts: TargetFacts, shape: AttentionLayers, available: int, wanted: int
) -> None:
    weights = facts.path.stat().st_size
    found = cache_bytes(replace(facts, attention=shape), available + weights)
    assert found == pytest.approx(wanted, rel=0.01)


def test_without_a_number_the_machine_is_asked(facts: TargetFacts) -> None:
    assert 64 * MIB <= cache_bytes(facts) <= 512 * MIB

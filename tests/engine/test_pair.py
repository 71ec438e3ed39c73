"""How a pair is loaded: the size of a prefill slice follows from the model, not from the clock."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gemma_local.engine.pair import slice_tokens
from gemma_local.models.target import inspect_target
from tests.ggufs import build, script


@pytest.mark.parametrize(
    ("active", "threads", "on_gpu", "tokens"),
    [
        (3_000_000, 1, False, 512),
        (135_000_000, 2, False, 256),
        (2_300_000_000, 2, False, 64),
        (2_300_000_000, 16, False, 128),
        (30_700_000_000, 8, False, 64),
        (30_700_000_000, 8, True, 512),
    ],
)
def test_large_models_read_in_small_slices(
    ggufs: Path, active: int, threads: int, on_gpu: bool, tokens: int
) -> None:
    facts = inspect_target(build("dense", script(["Hi"]), ggufs).target)
    facts = replace(facts, active_parameters=active)
    assert slice_tokens(facts, threads, on_gpu=on_gpu) == tokens

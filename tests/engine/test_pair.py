"""How a pair is loaded: as asked for, in slices that follow from the model and not the clock."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemma_local.engine.messages import Load
from gemma_local.engine.pair import Pair
from gemma_local.engine.plan.slices import slice_tokens
from gemma_local.models.errors import GemmaLocalError
from tests.engine.running import running
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
    active: int, threads: int, on_gpu: bool, tokens: int
) -> None:
    assert slice_tokens(active, threads, on_gpu=on_gpu) == tokens


@pytest.mark.parametrize("kv_type", ["f16", "bf16", "q8_0"])
def test_the_cache_has_the_type_that_was_asked_for(ggufs: Path, kv_type: str) -> None:
    files = build("dense", script(["Hi", " you", "."]), ggufs)
    with running(files, context=512, kv_type=kv_type) as runner:
        assert runner.pair.ready.kv_type == kv_type


def test_a_cache_of_another_type_is_refused(ggufs: Path) -> None:
    files = build("dense", script(["Hi", " you", "."]), ggufs)
    with pytest.raises(GemmaLocalError, match="f16, bf16, q8_0, not 'q4_0'"):
        Pair.load(Load(str(files.target), kv_type="q4_0"), lambda _event: None)


def test_a_fixed_draft_is_for_requests_that_leave_it_open(ggufs: Path) -> None:
    files = build("dense", script(["Hi", " you", "."]), ggufs)
    with running(files, context=512, draft_fixed=2) as runner:
        assert runner.pair.choose(None, None)[0] == 2
        assert runner.pair.choose(0, None)[0] == 0
        assert runner.pair.choose(4, None)[0] == 4
    with pytest.raises(GemmaLocalError, match="fixed draft length must be between 0 and 16"):
        Pair.load(Load(str(files.target), draft_fixed=17), lambda _event: None)


def test_a_draft_that_is_left_open_stays_open(ggufs: Path) -> None:
    files = build("dense", script(["Hi", " you", "."]), ggufs)
    with running(files, context=512, draft_start=2) as runner:
        assert runner.pair.choose(None, None)[0] is None
        assert runner.pair.choose(4, None)[0] == 4
        assert runner.pair.choose(16, None)[0] == runner.pair.ready.draft_max == 8

"""Whatever came before, a request is answered as if nothing had.

Right means: rows of logits as a fresh run has them, up to what adding the same numbers in another
order does to them. How much that is, is measured here first.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gemma_local.engine import prompt_cache
from tests.engine.histories import CONTEXT, History, answer, in_short_slices, window_pair
from tests.engine.running import Runner, ask, running

Rows = NDArray[np.float32]
KINDS = ["dense", "edge", "moe", "keqv"]
HISTORIES = int(os.environ.get("GEMMA_LOCAL_TEST_HISTORIES", "50"))
"""How many of each kind; more take longer and find more."""
AT_ONCE = 25
CACHE = 256 << 10
STATES = 512 << 10


@dataclass
class Bench:
    """A pair under test, one that never reuses anything, and how far their rows may differ."""

    cached: Runner
    fresh: Runner
    tolerance: float
    folder: Path


@pytest.fixture(scope="module", params=KINDS)
def bench(request: pytest.FixtureRequest, ggufs: Path, tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    files = window_pair(request.param, ggufs)
    folder = tmp_path_factory.mktemp("states")
    kept = {"cache_bytes": CACHE, "state_bytes": STATES, "state_folder": str(folder)}
    with (
        in_short_slices(files, sequences=1, **kept) as cached,
        # Slices as long as the context: its ring never wraps.
        running(files, context=CONTEXT, cache_bytes=0) as fresh,
    ):
        reordered, wrong = _differences(cached)
        assert wrong > 100 * reordered > 0
        yield Bench(cached, fresh, 4 * reordered, folder)


def _differences(runner: Runner) -> tuple[float, float]:
    """How far a row moves when the window's cells lie in another order, and when they are gone."""
    target = runner.pair.decoder.target
    tokens = [60 + i * 7 % 80 for i in range(271)]
    last = len(tokens) - 1

    def read(tokens: list[int], first: int = 0) -> None:
        for start in range(first, len(tokens), 64):
            piece = tokens[start : start + 64]
            positions = list(range(start, start + len(piece)))
            target.decode(piece, positions, [0] * len(piece), [0] * len(piece))

    def rows() -> Rows:
        """The last token's row, and those of some that follow."""
        found = []
        for position in range(last, last + 24):
            target.decode([60 + position * 11 % 80], [position], [0], [1])
            found.append(target.logits[0].copy())
        target.truncate(0, last)
        return np.array(found)

    read(tokens[:last])
    window = target.state(0, window_only=True)
    plain = rows()
    # The window lies across the ring's end: read back as it lies there, it begins with its end.
    assert target.restore(0, window, window_only=True)
    reordered = rows()
    read([*tokens[:last], *[99] * 300], last)
    target.truncate(0, last)
    wrong = rows()
    target.truncate(0, 0)
    return float(np.abs(reordered - plain).max()), float(np.abs(wrong - plain).max())


@pytest.mark.parametrize("first", range(0, HISTORIES, AT_ONCE))
def test_histories_of_each_kind_are_answered_as_if_fresh(
    bench: Bench, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompt_cache, "LEAST_SPACING", 64)
    reused = asked = 0
    for seed in range(first, first + AT_ONCE):
        draft = (0, 3, 1, 6)[seed % 4]
        history = History(seed, bench.cached, exact=seed % 3 > 0, draft=draft)
        for act, request in history.acts(3, longest_answer=3 if seed % 6 else 24):
            reply, rows = answer(bench.cached, request)
            history.answered(reply)
            tally, use = reply.end.tally, reply.end.cache
            assert tally.reused_tokens + tally.prefilled_tokens == tally.prompt_tokens
            assert use.checkpoint_bytes + use.parked_bytes <= CACHE
            assert use.saved_bytes <= STATES
            reused += tally.reused_tokens
            asked += tally.prompt_tokens
            bench.fresh.scheduler.forget()
            plain = ask(prompt=request.prompt, max_tokens=request.max_tokens, ignore_end=True)
            expected, expected_rows = answer(bench.fresh, plain)
            for i, (row, fresh) in enumerate(zip(rows, expected_rows, strict=True)):
                assert np.abs(row - fresh).max() < bench.tolerance, (seed, act, i)
                if reply.end.tokens[i] != expected.end.tokens[i]:
                    break
    assert reused > asked / 2
    shutil.rmtree(bench.folder)
    bench.folder.mkdir()

"""Exact mode: plain and drafted decoding agree in every bit of every row of logits.

On random weights, so that attention, the sliding window, its ring and every roll-back count.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from gemma_local.engine.comparison import compare
from gemma_local.engine.exactness import ring_cells
from gemma_local.engine.messages import Sampling, Verify
from gemma_local.engine.threads import usable_cpus
from gemma_local.models.prompt import Text
from tests.engine.running import ask, running
from tests.ggufs import Random, build

TYPES = ["Q4_0", "Q8_0", "Q4_K", "Q6_K", "F16", "BF16"]
THREADS = min(2, usable_cpus())
LENGTHS = [1, 2, 3, 4, 6, 8]
HALF_RIGHT = Random(pull=15.0)
"""A drafter that is right about every second time: roll-backs everywhere."""


@pytest.mark.parametrize("quantisation", TYPES)
@pytest.mark.parametrize("kind", ["dense", "keqv", "edge", "moe"])
def test_not_one_row_differs(ggufs: Path, kind: str, quantisation: str) -> None:
    files = build(kind, HALF_RIGHT, ggufs, tensor_type=quantisation)
    rows = 0
    # Two threads: how work is split over threads must not matter either.
    with running(files, exact=True, context=1024, threads=THREADS) as runner:
        for length in (1, 2, 3, 6):
            result = compare(runner.pair, Verify("v", (Text("the story of"),), 150, length))
            assert result.equal_text and result.first_difference is None
            assert (result.differing_rows, result.largest_difference) == (0, 0.0)
            assert 0.1 < result.accepted / result.drafted < 0.9
            rows += result.rows
    assert rows >= 500


def test_not_one_row_differs_after_a_prompt_longer_than_the_ring(ggufs: Path) -> None:
    files = build("dense", HALF_RIGHT, ggufs, tensor_type="Q8_0", window=64)
    with running(files, exact=True, context=2048, threads=THREADS) as runner:
        prompt = (Text("a b c d e f g " * 60),)
        result = compare(runner.pair, Verify("v", prompt, 300, 4))
        assert (result.rows, result.differing_rows) == (300, 0)


@pytest.mark.parametrize("sampling", [Sampling(temperature=0.0), Sampling(seed=8)])
@pytest.mark.parametrize("kind", ["dense", "keqv", "edge", "moe"])
def test_texts_are_the_same_at_every_length_alone_and_together(
    ggufs: Path, kind: str, sampling: Sampling
) -> None:
    files = build(kind, HALF_RIGHT, ggufs, tensor_type="Q4_0")
    prompts = [(Text(text),) for text in ("one day", "def f(x):", "no", "all of them")]
    with running(files, exact=True) as runner:
        plain = [
            runner.run(ask(draft=0, sampling=sampling, prompt=p, max_tokens=60))[0].tokens
            for p in prompts
        ]
        assert len(set(plain)) == 4
        for length in LENGTHS:
            [reply] = runner.run(
                ask(draft=length, sampling=sampling, prompt=prompts[0], max_tokens=60)
            )
            assert reply.tokens == plain[0]
    with running(files, exact=True, sequences=4) as runner:
        for length in (0, 3, 8):
            replies = runner.run(
                *(
                    ask(f"r{i}", draft=length, sampling=sampling, prompt=p, max_tokens=60)
                    for i, p in enumerate(prompts)
                )
            )
            assert [reply.tokens for reply in replies] == plain


def test_without_company_for_single_rows_a_mixture_of_experts_differs(ggufs: Path) -> None:
    """The comparison sees a difference where there is one, and the rule is what removes it."""
    files = build("moe", HALF_RIGHT, ggufs, tensor_type="Q4_0")
    with running(files, exact=True, context=1024) as runner:
        decoder = runner.pair.decoder
        assert decoder.limits.no_single_rows
        decoder.limits = dataclasses.replace(decoder.limits, no_single_rows=False)
        result = compare(runner.pair, Verify("v", (Text("the story of"),), 300, 3))
        assert result.differing_rows > 0 and result.largest_difference > 0.0


@pytest.mark.parametrize("kind", ["dense", "edge"])
def test_the_last_cells_of_the_context_are_exact_too(ggufs: Path, kind: str) -> None:
    files = build(kind, HALF_RIGHT, ggufs, tensor_type="Q4_0")
    with running(files, exact=True, context=256) as runner:
        for length in (1, 6):
            result = compare(runner.pair, Verify("v", (Text("the story"),), 10_000, length))
            assert result.differing_rows == 0 and result.equal_text
            assert result.tokens > 240


def test_a_verifying_pass_stays_within_the_rows_and_the_ring(ggufs: Path) -> None:
    files = build("dense", HALF_RIGHT, ggufs, tensor_type="Q8_0", window=64)
    with running(files, exact=True, context=2048, draft_max=8) as runner:
        ring = ring_cells(64, 2048, runner.pair.ready.ubatch)
        seen: list[tuple[int, int]] = []
        decode = runner.pair.decoder.target.decode

        def watch(tokens: list[int], positions: list[int], *rest: list[int]) -> None:
            if len(positions) <= 9 and positions[0] > 2:
                seen.append((positions[0], len(positions)))
            decode(tokens, positions, *rest)

        runner.pair.decoder.target.decode = watch  # type: ignore[method-assign,assignment]
        runner.run(ask(draft=8, max_tokens=ring + 100, ignore_end=True))
        assert max(n for _, n in seen) == 7
        assert all(start % ring + n <= ring for start, n in seen)
        assert any(start % ring + n == ring for start, n in seen)


def test_the_default_mode_reports_what_differs(ggufs: Path) -> None:
    """Half-precision weights take other kernels for one row and for several: that is measured."""
    files = build("dense", HALF_RIGHT, ggufs, tensor_type="F16")
    with running(files, context=1024) as runner:
        result = compare(runner.pair, Verify("v", (Text("the story of"),), 150, 3))
    assert result.rows > 0
    assert (result.differing_rows == 0) == (result.largest_difference == 0.0)
    if not result.equal_text:
        assert result.first_difference is not None and result.margin is not None

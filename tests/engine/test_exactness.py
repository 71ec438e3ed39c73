"""Exact mode: plain and drafted decoding agree in every bit of every row of logits.

On random weights, so that attention, the sliding window, its ring and every roll-back count.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gemma_local.engine.comparison import compare
from gemma_local.engine.exactness import ring_cells
from gemma_local.engine.messages import Done, Prefill, Sampling, Verify
from gemma_local.engine.threads import usable_cpus
from gemma_local.models.prompt import Ids, Prompt, Text
from tests.engine.histories import SLICE, answer, in_short_slices, restart
from tests.engine.running import Runner, ask, running
from tests.ggufs import Random, build, build_shallow

TYPES = ["Q4_0", "Q8_0", "Q4_K", "Q6_K", "F16"]
STORY_OF: Prompt = (Text("the story of"),)
LENGTHS = [1, 2, 3, 4, 6, 8]
HALF_RIGHT = Random(pull=15.0)
"""A drafter that is right about every second time: roll-backs everywhere."""


def decoded(runner: Runner, draft: int, tokens: int) -> tuple[Done, list[bytes]]:
    """A greedy text from nothing, and the bits of the rows that its tokens were chosen from."""
    restart(runner)
    request = ask(draft=draft, exact=True, prompt=STORY_OF, max_tokens=tokens, ignore_end=True)
    reply, rows = answer(runner, request)
    return reply.end, [row.tobytes() for row in rows]


def differing(some: list[bytes], others: list[bytes]) -> int:
    return sum(one != other for one, other in zip(some, others, strict=True))


@pytest.mark.parametrize("quantisation", TYPES)
@pytest.mark.parametrize("kind", ["dense", "edge", "moe"])
def test_not_one_row_differs(ggufs: Path, kind: str, quantisation: str) -> None:
    # With few layers some rows of these two do not differ even where the mode is off.
    make = build if quantisation in ("Q4_0", "Q8_0") else build_shallow
    files = make(kind, HALF_RIGHT, ggufs, tensor_type=quantisation)
    with running(files, context=1024) as runner:
        plain, plain_rows = decoded(runner, 0, 250)
        assert len(plain_rows) == 250
        for length in (1, 3):
            done, rows = decoded(runner, length, 250)
            assert done.tokens == plain.tokens
            assert differing(rows, plain_rows) == 0
            assert 0.1 < done.tally.accepted / done.tally.drafted < 0.9


@pytest.mark.parametrize("quantisation", ["Q4_0", "F16"])
def test_two_blocks_are_exact_where_no_k_quants_are(ggufs: Path, quantisation: str) -> None:
    files = build_shallow("keqv", HALF_RIGHT, ggufs, tensor_type=quantisation)
    with running(files, context=1024) as runner:
        assert runner.pair.ready.exact_draft_max == 7
        _plain, plain_rows = decoded(runner, 0, 250)
        for length in (2, 7):
            _done, rows = decoded(runner, length, 250)
            assert (len(rows), differing(rows, plain_rows)) == (250, 0)


def test_k_quants_are_held_to_one_block(ggufs: Path) -> None:
    files = build("keqv", HALF_RIGHT, ggufs, tensor_type="Q4_K")
    with running(files) as runner:
        assert runner.pair.ready.exact_draft_max == 3


@pytest.mark.parametrize("length", [700, 1000])
@pytest.mark.parametrize(("kind", "quantisation"), [("dense", "Q8_0"), ("moe", "Q4_K")])
def test_not_one_row_differs_after_a_prompt_longer_than_the_ring(
    ggufs: Path, kind: str, quantisation: str, length: int
) -> None:
    # Each text runs across the ring's end once more, or twice.
    files = build_shallow(kind, HALF_RIGHT, ggufs, tensor_type=quantisation, window=64)
    prompt = (Ids(tuple(100 + i * 7 % 80 for i in range(length))),)
    with in_short_slices(files, context=2048) as runner:
        result = compare(runner.pair, Verify("v", prompt, 300, 3, True))
        assert (result.rows, result.differing_rows) == (300, 0)


@pytest.mark.skipif(usable_cpus() < 2, reason="needs two CPUs")
@pytest.mark.parametrize(
    ("kind", "quantisation", "draft"),
    [("dense", "Q8_0", 0), ("dense", "Q8_0", 3), ("moe", "Q4_K", 3)],
)
def test_the_number_of_threads_changes_no_bit(
    ggufs: Path, kind: str, quantisation: str, draft: int
) -> None:
    # It steps down while other programs take the CPUs, in the middle of an answer as well. Two
    # threads wait for each other at every step, so it is few rows, on both sides of the ring's end.
    files = build_shallow(kind, HALF_RIGHT, ggufs, tensor_type=quantisation, window=64)
    prompt = (Ids(tuple(100 + i * 7 % 80 for i in range(745))),)
    found = []
    for threads in (1, 2):
        with in_short_slices(files, context=2048, threads=threads) as runner:
            rows: list[bytes] = []
            runner.pair.decoder.observer = lambda _, row, rows=rows: rows.append(row.tobytes())
            runner.run(ask(draft=draft, exact=True, prompt=prompt, max_tokens=40))
            found.append(rows)
    assert len(found[0]) == len(found[1]) >= 40
    assert sum(one != two for one, two in zip(*found, strict=True)) == 0


@pytest.mark.parametrize("sampling", [Sampling(temperature=0.0), Sampling(seed=8)])
@pytest.mark.parametrize("kind", ["dense", "keqv", "edge", "moe"])
def test_texts_are_the_same_at_every_length_alone_and_together(
    ggufs: Path, kind: str, sampling: Sampling
) -> None:
    files = build_shallow(kind, HALF_RIGHT, ggufs, tensor_type="Q4_0")
    prompts = [(Text(text),) for text in ("one day", "def f(x):", "no", "all of them")]
    with running(files) as runner:
        plain = [
            runner.run(ask(draft=0, exact=True, sampling=sampling, prompt=p, max_tokens=60))[
                0
            ].tokens
            for p in prompts
        ]
        assert len(set(plain)) == 4
        for length in LENGTHS:
            [reply] = runner.run(
                ask(draft=length, exact=True, sampling=sampling, prompt=prompts[0], max_tokens=60)
            )
            assert reply.tokens == plain[0]
    with running(files, sequences=4) as runner:
        for length in (0, 3, 8):
            replies = runner.run(
                *(
                    ask(
                        f"r{i}",
                        draft=length,
                        exact=True,
                        sampling=sampling,
                        prompt=p,
                        max_tokens=60,
                    )
                    for i, p in enumerate(prompts)
                )
            )
            assert [reply.tokens for reply in replies] == plain


# Not Q4_0 and Q8_0: whether their kernels for one row and for four differ depends on the processor.
@pytest.mark.parametrize(("kind", "quantisation"), [("moe", "F16"), ("dense", "Q4_K")])
def test_without_exact_mode_rows_differ(ggufs: Path, kind: str, quantisation: str) -> None:
    """The comparison sees a difference where there is one, and the mode is what removes it."""
    files = build_shallow(kind, HALF_RIGHT, ggufs, tensor_type=quantisation)
    with running(files, context=1024) as runner:
        result = compare(runner.pair, Verify("v", STORY_OF, 300, 3, False))
        assert result.differing_rows > 0 and result.largest_difference > 0.0
        if not result.equal_text:
            assert result.first_difference is not None and result.margin is not None


@pytest.mark.parametrize("kind", ["dense", "edge"])
def test_the_last_cells_of_the_context_are_exact_too(ggufs: Path, kind: str) -> None:
    files = build(kind, HALF_RIGHT, ggufs, tensor_type="Q4_0")
    with running(files, context=256) as runner:
        for length in (1, 3):
            result = compare(runner.pair, Verify("v", (Text("the story"),), 10_000, length, True))
            assert result.differing_rows == 0 and result.equal_text
            assert result.tokens > 240


@pytest.mark.parametrize("length", [0, 2, 8])
def test_every_pass_is_a_block_within_the_ring(ggufs: Path, length: int) -> None:
    files = build_shallow("dense", HALF_RIGHT, ggufs, tensor_type="Q4_K", window=64)
    with in_short_slices(files, context=2048, draft_max=8) as runner:
        ring = ring_cells(64, 2048, SLICE)
        seen: list[tuple[int, int]] = []
        decode = runner.pair.decoder.target.decode

        def watch(tokens: list[int], positions: list[int], *rest: list[int]) -> None:
            if all(rest[1]):
                seen.append((positions[0], len(positions)))
            decode(tokens, positions, *rest)

        runner.pair.decoder.target.decode = watch  # type: ignore[method-assign,assignment]
        runner.run(ask(draft=length, exact=True, max_tokens=ring + 100, ignore_end=True))
        assert all(start % ring + n <= ring for start, n in seen)
        single = {start % ring for start, n in seen if n == 1}
        assert single == {ring - 3, ring - 2, ring - 1}
        assert {n for _, n in seen} == {1, 4}


def test_single_rows_say_nothing_about_threads(
    ggufs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are computed with one thread, whatever the others have."""
    files = build_shallow("dense", HALF_RIGHT, ggufs, tensor_type="Q4_0", window=64)
    with in_short_slices(files, context=2048) as runner:
        decoder, ring = runner.pair.decoder, ring_cells(64, 2048, SLICE)
        prompt = (Ids(tuple(100 + i % 80 for i in range(ring - 20))),)
        observed: list[int] = []
        observe = decoder._governor.observe

        def note(rows: int, seconds: float, now: float) -> None:
            observed.append(rows)
            observe(rows, seconds, now)

        monkeypatch.setattr(decoder._governor, "observe", note)
        [reply] = runner.run(
            ask(prompt=prompt, draft=0, exact=True, max_tokens=40, ignore_end=True)
        )
        assert reply.end.tally.passes > len(observed) > 0
        assert set(observed) == {4}
        runner.run(ask(draft=0, max_tokens=4, ignore_end=True))
        assert observed[-1] == 1


@pytest.mark.parametrize(
    ("draft", "exact", "is_exact"),
    [
        (None, None, False),
        (None, True, True),
        (3, None, True),
        (1, None, False),
        (0, None, False),
        (0, True, True),
        (3, False, False),
    ],
)
def test_it_is_exact_where_that_is_free_unless_told(
    ggufs: Path, draft: int | None, exact: bool | None, is_exact: bool
) -> None:
    files = build_shallow("dense", HALF_RIGHT, ggufs, tensor_type="Q4_0")
    with running(files) as runner:
        [reply] = runner.run(ask(draft=draft, exact=exact, max_tokens=5))
        assert reply.end.exact is is_exact


def test_prefill_slices_end_where_the_ring_ends(ggufs: Path) -> None:
    files = build("dense", HALF_RIGHT, ggufs, tensor_type="Q8_0", window=64)
    with running(files, context=2048) as runner:
        ring = runner.pair.choose(3, exact=True)[1].ring
        assert ring % runner.pair.ready.ubatch != 0
        prompt = (Ids(tuple(100 + i % 80 for i in range(1500))),)
        [reply] = runner.run(ask(prompt=prompt, exact=True, max_tokens=2))
        ends = [event.done for event in reply.events if isinstance(event, Prefill)]
        assert ring in ends

"""Exact mode from one request to the next: drafts change no bit of what comes after either."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gemma_local.engine import prompt_cache
from gemma_local.engine.cached import Cut
from gemma_local.engine.slot import Slot
from tests.engine.histories import (
    RING,
    WINDOW,
    History,
    answer,
    ids,
    in_short_slices,
    lies_in_order,
    restart,
    window_pair,
)
from tests.engine.running import Runner, ask, running
from tests.ggufs import build, script

LENGTHS = (0, 1, 3, 6)


@pytest.fixture(params=["dense F16 32", "edge Q4_0 192", "moe Q4_K 32", "keqv Q8_0 192"])
def runner(request: pytest.FixtureRequest, ggufs: Path, tmp_path: Path) -> Iterator[Runner]:
    kind, tensor_type, window = request.param.split()
    files = window_pair(kind, ggufs, tensor_type, int(window))
    kept = {"cache_bytes": 256 << 10, "state_bytes": 1 << 20, "state_folder": str(tmp_path)}
    with in_short_slices(files, **kept) as runner:
        yield runner


def act_out(runner: Runner, seed: int, draft: int, folder: Path) -> list[object]:
    """Everything that a history leads to: tokens, every bit of their rows, what was reused."""
    shutil.rmtree(folder)
    folder.mkdir()
    restart(runner)
    seen: list[object] = []
    history = History(seed, runner, exact=True, draft=draft)
    for number, (act, request) in enumerate(history.acts(6, longest_answer=60)):
        reply, rows = answer(runner, request)
        history.answered(reply)
        assert lies_in_order(runner)
        tally, cache = reply.end.tally, reply.end.cache
        seen.append((number, act, reply.end.tokens, tally.reused_tokens, cache))
        seen.extend(row.tobytes() for row in rows)
    return seen


def test_histories_are_the_same_to_the_last_bit_whatever_is_drafted(
    runner: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompt_cache, "LEAST_SPACING", 64)
    ways = {"checkpoint": 0, "across the ring's end": 0}
    cut, straighten = Slot.cut, Slot.straighten

    def counted_cut(slot: Slot, where: Cut) -> bool:
        ways["checkpoint"] += where.checkpoint is not None
        return cut(slot, where)

    def counted_straighten(slot: Slot) -> bool:
        ways["across the ring's end"] += not slot.in_order
        return straighten(slot)

    monkeypatch.setattr(Slot, "cut", counted_cut)
    monkeypatch.setattr(Slot, "straighten", counted_straighten)
    rows = 0
    # Among many histories these go back to checkpoints, and across the ring's end.
    for seed in (3, 16, 17, 24, 30):
        plain = act_out(runner, seed, 0, tmp_path)
        rows += sum(isinstance(item, bytes) for item in plain)
        for draft in LENGTHS[1:]:
            drafted = act_out(runner, seed, draft, tmp_path)
            assert drafted == plain, (seed, draft)
    assert rows > 500
    assert ways["checkpoint"] >= 4
    # A large window leaves too little of the ring to go back across its end.
    assert ways["across the ring's end"] >= 4 or runner.pair.decoder.target.model.n_swa > WINDOW


@pytest.mark.parametrize("window", [WINDOW, 192])
@pytest.mark.parametrize("back_to", [RING - 3, RING + 10], ids=["across the end", "checkpoint"])
def test_passes_know_where_the_ring_ends_after_going_back(
    ggufs: Path, back_to: int, window: int
) -> None:
    """The ring is filled anew from cell 0: its end is no longer at multiples of its length.

    At the checkpoint the window lies across the ring's end.
    """
    with in_short_slices(window_pair("dense", ggufs, window=window)) as runner:
        base = [60 + i * 7 % 80 for i in range(back_to)]
        others = [60 + i * 3 % 80 for i in range(60)]

        def rows(draft: int) -> list[bytes]:
            restart(runner)
            going_on = RING + 20
            turns = ((base, going_on if back_to > RING else 1), ([*base, *others], 4))
            for tokens, most in (*turns[: 1 if back_to > RING else 2], ([*base, 99], going_on)):
                request = ask(
                    prompt=ids(tokens), exact=True, draft=draft, ignore_end=True, max_tokens=most
                )
                reply, found = answer(runner, request)
                assert lies_in_order(runner)
            assert reply.end.tally.reused_tokens == back_to + 1
            assert runner.scheduler._cache._slots[0].origin not in (0, RING)
            return [row.tobytes() for row in found]

        plain = rows(0)
        assert len(plain) > RING
        for draft in LENGTHS[1:]:
            assert rows(draft) == plain


def test_how_far_back_is_possible_does_not_depend_on_drafts(ggufs: Path) -> None:
    """A pass runs ahead by its draft and takes cells of the oldest positions for it."""
    with in_short_slices(window_pair("dense", ggufs), cache_bytes=0) as runner:
        known = [60 + i * 7 % 80 for i in range(250)]

        def reused(said: int, cut: int, draft: int) -> int:
            restart(runner)
            for tokens, most in ((known, said), ([*known[:cut], 99], 1)):
                request = ask(
                    prompt=ids(tokens), exact=True, draft=draft, ignore_end=True, max_tokens=most
                )
                [reply] = runner.run(request)
            return reply.end.tally.reused_tokens

        seen = set()
        for said in range(16, 20):
            farthest = 250 + said - RING + WINDOW
            for cut in range(farthest, farthest + 9):
                [found] = {reused(said, cut, draft) for draft in LENGTHS}
                seen.add(found > 0)
        assert seen == {False, True}


@pytest.mark.parametrize("kind", ["dense", "edge"])
def test_what_a_request_leaves_does_not_depend_on_drafts(ggufs: Path, kind: str) -> None:
    """Also when the token that ended it was drafted and so is in the cache already."""
    said = script(["Once", *(f" word{i}" for i in range(40)), "."])
    with running(build(kind, said, ggufs)) as runner:
        for how in ({"stop": ("word9",)}, {"max_tokens": 17}, {}):
            left = set()
            for draft in LENGTHS:
                restart(runner)
                [reply] = runner.run(ask(draft=draft, exact=True, **how))
                left.add(reply.end.cache.tokens)
            assert len(left) == 1, how

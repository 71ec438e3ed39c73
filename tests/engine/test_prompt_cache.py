"""What is read only once: ten turns, asides, edits, dropped thoughts, other sessions, restarts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gemma_local.engine import prompt_cache
from gemma_local.engine.beginnings import LEAST_PARKED
from gemma_local.engine.client import Engine
from gemma_local.engine.messages import Done, Failed, Generate, Load, Read, Saved
from gemma_local.engine.runtime.context import Floats
from gemma_local.models.prompt import Control, Ids, Text
from tests.engine.histories import (
    RING,
    SLICE,
    WINDOW,
    answer,
    ids,
    in_short_slices,
    restart,
    window_pair,
)
from tests.engine.running import Runner, ask
from tests.ggufs import Pair

SLACK = 64
"""Tokens that may be read again beside the new ones."""


@pytest.fixture(scope="module", params=["dense", "edge"])
def files(request: pytest.FixtureRequest, ggufs: Path) -> Pair:
    return window_pair(request.param, ggufs)


@pytest.fixture
def runner(files: Pair, tmp_path: Path) -> Iterator[Runner]:
    with in_short_slices(files, context=2048, state_folder=str(tmp_path / "states")) as runner:
        yield runner


def tokens(count: int, seed: int = 0) -> list[int]:
    generator = np.random.default_rng(seed)
    return [int(token) for token in generator.integers(60, 140, count)]


def turn(
    runner: Runner, prompt: list[int], session: str = "main", max_tokens: int = 120, **more: Any
) -> tuple[list[int], Done]:
    """One request with drafting, as the assistant makes it; all that is known then."""
    request = ask(
        prompt=ids(prompt), session=session, max_tokens=max_tokens, exact=True, ignore_end=True,
        **more,
    )  # fmt: skip
    [reply] = runner.run(request)
    assert reply.end.exact
    return [*prompt, *reply.end.tokens], reply.end


@pytest.mark.parametrize("with_restarts", [False, True])
def test_a_conversation_of_ten_turns_reads_what_is_new(
    runner: Runner, *, with_restarts: bool
) -> None:
    known = tokens(200)
    for number in range(10):
        new = tokens(15 + number, seed=number)
        before = len(known)
        known, done = turn(runner, known + new, max_tokens=70)
        if number:
            assert done.tally.prefilled_tokens <= len(new) + 1, number
            assert done.tally.reused_tokens >= before - 1
        if with_restarts:
            runner.scheduler.save("s")
            restart(runner)
    assert len(known) > 4 * RING


def test_the_same_after_a_new_process(files: Pair, tmp_path: Path) -> None:
    """Two engines, one after the other, with a state folder between them."""
    load = Load(
        str(files.target), str(files.drafter), context=2048, threads=1,
        state_folder=str(tmp_path / "states"),
    )  # fmt: skip
    prompt = tokens(900)

    def generate(engine: Engine, prompt: list[int], draft: int) -> Done:
        request = Generate(
            f"{draft}", ids(prompt), max_tokens=30, draft=draft, session="x", ignore_end=True
        )
        *_others, done = engine.generate(replace(request, sampling=ask().sampling))
        assert isinstance(done, Done)
        return done

    with Engine(tmp_path / "log") as engine:
        engine.start(load)
        known = [*prompt, *generate(engine, prompt, 3).tokens]
        *_progress, read = engine.read(Read("r", ids([*known, 70, 71]), "x", draft=3))
        assert isinstance(read, Done) and read.reason == "read"
        assert read.tally.prefilled_tokens == 3
        saved = engine.save()
        assert (saved.files, saved.cache.saved) == (1, 1)
        assert engine.save().files == 0
        expected = generate(engine, [*known, 70, 71, 72], 3)
    with Engine(tmp_path / "log") as engine:
        engine.start(load)
        after = generate(engine, [*known, 70, 71, 72], 3)
        assert after.tally.reused_tokens == len(known) + 3  # the BOS is not in what is known
        assert after.tokens == expected.tokens


def test_a_side_request_costs_the_conversation_nothing(runner: Runner) -> None:
    known, _done = turn(runner, tokens(700))
    _aside, title = turn(runner, tokens(150, seed=5), session="", max_tokens=10)
    assert title.cache.parked == 1 and title.cache.parked_bytes > 0
    _known, done = turn(runner, [*known, *tokens(20, seed=6)])
    assert done.tally.prefilled_tokens <= 20 + 1


def test_a_summary_of_the_conversation_costs_it_nothing(runner: Runner) -> None:
    known, _done = turn(runner, tokens(700))
    _summary, summary = turn(runner, [*known, *tokens(30, seed=5)], session="", max_tokens=300)
    assert summary.tally.prefilled_tokens <= 31
    _known, done = turn(runner, [*known, *tokens(20, seed=6)])
    assert done.tally.prefilled_tokens <= 20 + 1


@pytest.mark.parametrize("shared", [0, 300])
def test_sessions_take_turns_in_one_sequence(runner: Runner, shared: int) -> None:
    """Also when both begin with the same long system prompt."""
    known = [tokens(shared) + tokens(250, seed=i) for i in (1, 2, 3)]
    for number in range(9):
        here = number % 3
        known[here], done = turn(
            runner, [*known[here], *tokens(9, seed=number)], f"session {here}", max_tokens=40
        )
        if number > 2:
            assert done.tally.prefilled_tokens <= 9 + 1
        elif number == 2:
            # That they begin alike was seen at the second one.
            assert done.tally.reused_tokens >= shared


def test_a_slot_that_is_empty_is_taken_before_one_that_is_not(files: Pair) -> None:
    with in_short_slices(files, sequences=2) as runner:
        turn(runner, tokens(300), session="a", max_tokens=2)
        _known, done = turn(runner, tokens(300, seed=1), session="b", max_tokens=2)
        assert (done.cache.parked, done.cache.tokens > 600) == (0, True)
        _known, done = turn(runner, tokens(300, seed=2), session="c", max_tokens=2)
        assert done.cache.parked == 1


def test_a_branch_of_a_running_conversation_is_copied(files: Pair) -> None:
    with in_short_slices(files, sequences=2, context=1024) as runner:
        known, _done = turn(runner, tokens(300), session="a", max_tokens=2)
        _known, branch = turn(runner, [*tokens(300)[:150], *tokens(9, seed=1)], "b", max_tokens=2)
        # Of several sequences' exact passes whole slices are of use.
        assert branch.tally.reused_tokens == 150 // SLICE * SLICE
        _known, done = turn(runner, [*known, 70], session="a", max_tokens=2)
        assert done.tally.prefilled_tokens <= SLICE


# ------------------------------------------------------------------------------------- going back


def test_what_lies_behind_a_dropped_thought_is_read_again_and_no_more(runner: Runner) -> None:
    prompt = tokens(600)
    known, _done = turn(runner, prompt, max_tokens=400)
    said = known[600:]
    rest = said[300:]
    _known, done = turn(runner, [*prompt, *rest, *tokens(10, seed=3)])
    assert done.tally.reused_tokens >= len(prompt)
    assert done.tally.prefilled_tokens <= len(rest) + 10 + 1


def test_a_thought_that_was_primed_is_dropped_as_cheaply(runner: Runner) -> None:
    """The prompt ends in an empty thought, and the next turn's prompt has none there."""
    before = tokens(600)
    primed = (Ids(tuple(before)), Control("<|channel>"), Text("say"), Control("<channel|>"))
    [reply] = runner.run(
        ask(prompt=primed, session="main", exact=True, draft=3, max_tokens=300, ignore_end=True)
    )
    [after] = runner.run(
        ask(
            prompt=ids([*before, *reply.tokens[:50], 70]), session="main", exact=True, draft=3,
            max_tokens=2, ignore_end=True,
        )
    )  # fmt: skip
    assert after.end.tally.reused_tokens >= len(before)


def test_the_last_question_is_edited_and_answered_anew_cheaply(runner: Runner) -> None:
    known, _done = turn(runner, tokens(400), max_tokens=50)
    question = [*known, *tokens(100, seed=1)]
    turn(runner, question, max_tokens=500)
    _known, again = turn(runner, question, max_tokens=300)
    assert again.tally.prefilled_tokens == 1
    edited = [*question[:-90], *tokens(90, seed=2)]
    _known, done = turn(runner, edited, max_tokens=20)
    assert done.tally.prefilled_tokens <= 100 + 1


def test_checkpoints_of_a_long_prompt_lie_where_going_back_costs_little(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompt_cache, "LEAST_SPACING", 256)
    prompt = tokens(1800)
    _known, done = turn(runner, prompt, max_tokens=2)
    assert done.cache.checkpoints >= 5
    _known, done = turn(runner, [*prompt[:1000], *tokens(5, seed=1)], max_tokens=2)
    assert done.tally.prefilled_tokens <= 5 + 256 + SLICE


def rows_after(runner: Runner, known: list[int], cut: int) -> tuple[int, list[Floats]]:
    """Tokens reused, and rows, of an answer to the first ``cut`` tokens of what is known."""
    turn(runner, known, session="", max_tokens=1)
    reply, rows = answer(
        runner,
        ask(prompt=ids([*known[:cut], 99]), max_tokens=3, exact=False, draft=0, ignore_end=True),
    )
    return reply.end.tally.reused_tokens, rows


def test_the_window_before_a_cut_must_be_there_to_its_last_token(files: Pair) -> None:
    """Around the place where the first token of the window is lost, rows stay right."""
    with in_short_slices(files, cache_bytes=0) as runner:
        known = tokens(500)
        outcomes = set()
        for cut in range(500 - (RING - WINDOW) - 8, 500 - (RING - WINDOW) + 8):
            reused, rows = rows_after(runner, known, cut)
            outcomes.add(reused > 0)
            restart(runner)
            _fresh, expected = answer(
                runner,
                ask(prompt=ids([*known[:cut], 99]), max_tokens=3, exact=False, draft=0,
                    ignore_end=True),
            )  # fmt: skip
            assert np.abs(rows[0] - expected[0]).max() < 0.1
            restart(runner)
        assert outcomes == {True, False}


# ----------------------------------------------------------------------------------------- budgets


@pytest.mark.parametrize("budget", [0, 20_000, 100_000, 400_000])
def test_memory_stays_within_the_budget(
    files: Pair, budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompt_cache, "LEAST_SPACING", 64)
    most = 0
    with in_short_slices(files, cache_bytes=budget) as runner:
        for number in range(12):
            prompt = tokens(200 + 20 * number, seed=number % 5)
            _known, done = turn(runner, prompt, f"s{number % 5}", max_tokens=10)
            use = done.cache
            assert use.checkpoint_bytes + use.parked_bytes <= budget
            most = max(most, use.checkpoint_bytes + use.parked_bytes)
    assert most >= budget // 2 or budget < 100_000


def test_thinning_spares_the_newest_and_the_oldest(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompt_cache, "LEAST_SPACING", 64)
    cache = runner.scheduler._cache
    turn(runner, tokens(1800), max_tokens=2)
    held = cache._slots[0].cached.checkpoints
    everything = [checkpoint.position for checkpoint in held]
    while len(held) > 4:
        cache._slots[0].cached.thin()
    left = [checkpoint.position for checkpoint in held]
    assert (left[0], left[-1]) == (everything[0], everything[-1])
    assert left[-1] - left[-2] < left[1] - left[0]  # denser where it is newer


def test_a_short_conversation_is_not_worth_a_copy(runner: Runner) -> None:
    turn(runner, tokens(LEAST_PARKED - 40), session="a", max_tokens=2)
    _known, done = turn(runner, tokens(200, seed=1), session="b", max_tokens=2)
    assert done.cache.parked == 0


# -------------------------------------------------------------------------------------------- disk


def test_only_named_sessions_are_saved_and_only_when_they_changed(runner: Runner) -> None:
    known, _done = turn(runner, tokens(300), session="a")
    turn(runner, tokens(300, seed=1), session="")
    turn(runner, tokens(300, seed=2), session="b")

    def save() -> Saved:
        runner.events.clear()
        runner.scheduler.save("s")
        [saved] = runner.events
        assert isinstance(saved, Saved)
        return saved

    first = save()
    assert (first.files, first.cache.saved) == (2, 2)
    assert first.bytes == first.cache.saved_bytes > 0
    assert (save().files, save().bytes) == (0, 0)
    turn(runner, [*known, 70], session="a")
    assert save().files == 1


def test_a_dropped_thought_is_cheap_after_a_restart_too(runner: Runner) -> None:
    prompt = tokens(600)
    known, _done = turn(runner, prompt, max_tokens=300)
    runner.scheduler.save("s")
    restart(runner)
    _known, done = turn(runner, [*prompt, *known[800:], *tokens(10, seed=3)])
    assert done.tally.reused_tokens >= len(prompt)


@pytest.mark.parametrize("damage", ["flip", "cut", "empty"])
def test_a_damaged_state_is_read_around(runner: Runner, tmp_path: Path, damage: str) -> None:
    known, _done = turn(runner, tokens(300), max_tokens=20)
    expected, _done = turn(runner, [*known, 70], max_tokens=5)
    restart(runner)
    turn(runner, tokens(300), max_tokens=20)
    runner.scheduler.save("s")
    [path] = (tmp_path / "states").iterdir()
    whole = path.read_bytes()
    middle = len(whole) // 2
    flipped = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    path.write_bytes({"flip": flipped, "cut": whole[:middle], "empty": b""}[damage])
    restart(runner)
    after, done = turn(runner, [*known, 70], max_tokens=5)
    assert done.tally.reused_tokens == 0
    assert after[:-4] == expected[:-4]
    assert not path.exists()


def test_a_state_that_llama_refuses_is_removed(runner: Runner, tmp_path: Path) -> None:
    """Sound by its digests, and still nothing for this cache: as if the format had changed."""
    known, _done = turn(runner, tokens(300), max_tokens=20)
    saved = runner.scheduler._cache._saved
    assert saved is not None
    runner.scheduler.save("s")
    [state] = saved.entries()
    parts = saved.load(state)
    assert parts is not None
    parts[0][12] ^= 1  # the number of cells
    sizes = list(zip(state.parts, parts, strict=True))
    saved.save("main", state.tokens, state.exact, sizes)
    restart(runner)
    _known, done = turn(runner, [*known, 70], max_tokens=5)
    assert done.tally.reused_tokens == 0
    assert list((tmp_path / "states").iterdir()) == []


def test_a_longer_state_than_the_context_is_left_alone(files: Pair, tmp_path: Path) -> None:
    kept = {"state_folder": str(tmp_path)}
    with in_short_slices(files, context=2048, **kept) as runner:
        known, _done = turn(runner, tokens(900))
        runner.scheduler.save("s")
    with in_short_slices(files, context=1024, **kept) as runner:
        _known, done = turn(runner, tokens(900)[:800], max_tokens=2)
        assert done.tally.reused_tokens == 0
    with in_short_slices(files, context=4096, **kept) as runner:
        _known, done = turn(runner, [*known, 70], max_tokens=2)
        assert done.tally.reused_tokens == len(known) + 1 - 1


def test_a_folder_that_cannot_be_written_to_is_said(files: Pair, tmp_path: Path) -> None:
    (tmp_path / "states").write_text("a file")
    with in_short_slices(files, state_folder=str(tmp_path / "states")) as runner:
        turn(runner, tokens(200), max_tokens=2)
        runner.events.clear()
        runner.scheduler.save("s")
        [failed] = runner.events
        assert isinstance(failed, Failed) and "cannot be kept in" in failed.message
        turn(runner, tokens(200), max_tokens=2)


def test_without_a_folder_nothing_is_written(files: Pair) -> None:
    with in_short_slices(files) as runner:
        turn(runner, tokens(200), max_tokens=2)
        runner.events.clear()
        runner.scheduler.save("s")
        [saved] = runner.events
        assert isinstance(saved, Saved) and (saved.files, saved.cache.saved) == (0, 0)

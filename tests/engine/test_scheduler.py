"""Requests in, events out: queueing, cancelling, reuse of what is in the cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemma_local.engine import scheduler
from gemma_local.engine.messages import Delta, Done, Failed, Prefill, Read, Sampling
from gemma_local.engine.runtime.context import Aborted, DecodeFailed
from gemma_local.engine.sequence import Sequence
from gemma_local.models.prompt import Ids, Text
from tests.engine.running import ask, running
from tests.ggufs import Drafter, build, script

STORY = script(["Once", *(f" word{i}" for i in range(150)), "."])


def test_more_requests_than_slots_wait_their_turn(ggufs: Path) -> None:
    with running(build("dense", STORY, ggufs), sequences=2) as runner:
        replies = runner.run(*(ask(f"r{i}", max_tokens=20 + i) for i in range(5)))
        assert [len(reply.tokens) for reply in replies] == [20, 21, 22, 23, 24]


def test_cancelling_one_leaves_the_others_alone(ggufs: Path) -> None:
    with running(build("dense", STORY, ggufs), sequences=2) as runner:
        for name in ("keep", "drop", "waiting"):
            runner.scheduler.submit(ask(name, draft=2))
        for _ in range(5):
            runner.scheduler.turn()
        runner.scheduler.cancel("drop")
        runner.scheduler.cancel("waiting")
        while not runner.scheduler.is_idle:
            runner.scheduler.turn()
        kept, dropped, waiting = (runner.reply(n) for n in ("keep", "drop", "waiting"))
        assert (kept.text, kept.end.reason) == (STORY.text, "stop")
        assert dropped.end.reason == "cancelled"
        assert 0 < len(dropped.tokens) < 40
        assert STORY.text.startswith(dropped.text)
        assert (waiting.end.reason, waiting.tokens) == ("cancelled", ())


def test_cancelling_what_is_unknown_does_nothing(ggufs: Path) -> None:
    with running(build("dense", STORY, ggufs)) as runner:
        runner.scheduler.cancel("nobody")
        assert runner.events == []


def test_a_prompt_longer_than_the_context_is_refused_with_a_remedy(ggufs: Path) -> None:
    with running(build("dense", STORY, ggufs), context=256) as runner:
        [reply] = runner.run(ask(prompt=(Ids((5,) * 300),)))
        assert reply.failed is not None
        assert "301 tokens" in reply.failed.message and "--ctx 1024" in reply.failed.message
        [after] = runner.run(ask())
        assert after.text == STORY.text


@pytest.mark.parametrize("token", [-1, 10**6])
def test_a_token_that_does_not_exist_is_refused(ggufs: Path, token: int) -> None:
    with running(build("dense", STORY, ggufs)) as runner:
        biased = Sampling(temperature=0.0, logit_bias={token: 1.0})
        replies = runner.run(
            ask("a", prompt=(Ids((token,)),)),
            ask("b", produced=(token,)),
            ask("c", sampling=biased),
        )
        for reply in replies:
            assert reply.failed is not None and str(token) in reply.failed.message


def test_prefill_comes_in_slices_with_progress(ggufs: Path) -> None:
    with running(build("dense", STORY, ggufs), context=2048) as runner:
        [reply] = runner.run(ask(prompt=(Text("a b c d " * 250),), max_tokens=3))
        progress = [event for event in reply.events if isinstance(event, Prefill)]
        total = reply.end.tally.prompt_tokens
        ubatch = runner.pair.ready.ubatch
        assert total > 2 * ubatch
        assert [p.done for p in progress] == [*range(ubatch, total, ubatch), total]
        assert {p.total for p in progress} == {total}


def test_a_long_prompt_does_not_freeze_a_running_answer(ggufs: Path) -> None:
    with running(build("dense", STORY, ggufs), context=2048, sequences=2) as runner:
        runner.scheduler.submit(ask("talking"))
        runner.scheduler.turn()
        runner.scheduler.submit(ask("reading", prompt=(Text("a b c d " * 250),), max_tokens=2))
        runner.scheduler.turn()
        before = len(runner.scheduler._running[0].output.ids)
        runner.scheduler.turn()
        assert runner.scheduler._running[1].to_prefill
        assert len(runner.scheduler._running[0].output.ids) > before


# ------------------------------------------------------------------------------------ prompt reuse


def test_what_is_in_the_cache_is_not_computed_again(ggufs: Path) -> None:
    with running(build("edge", STORY, ggufs)) as runner:
        [first] = runner.run(ask(prompt=(Text("one two three"),), draft=3, max_tokens=30))
        prompt = runner.scheduler._encoder.ids((Text("one two three"),))
        following = [*prompt, *first.tokens, *runner.scheduler._encoder.text_ids(" and more")]
        [second] = runner.run(ask(prompt=(Ids(tuple(following)),), max_tokens=5))
        tally = second.end.tally
        assert tally.reused_tokens == len(prompt) + 29  # the last token was never decoded
        assert tally.prefilled_tokens == len(following) - tally.reused_tokens


def test_the_same_prompt_again_computes_its_last_token_only(ggufs: Path) -> None:
    with running(build("dense", STORY, ggufs)) as runner:
        runner.run(ask(max_tokens=5))
        [again] = runner.run(ask(max_tokens=5))
        assert again.end.tally.prefilled_tokens == 1


def test_the_slot_that_saves_most_is_taken(ggufs: Path) -> None:
    with running(build("dense", STORY, ggufs), sequences=2) as runner:
        one, two = (Text("a b c d e f g"),), (Text("t u v w x y z"),)
        runner.run(ask("1", prompt=one, max_tokens=2), ask("2", prompt=two, max_tokens=2))
        [reply] = runner.run(ask("3", prompt=two, max_tokens=2))
        assert reply.end.tally.prefilled_tokens == 1


def test_a_window_that_moved_on_is_not_reused(ggufs: Path) -> None:
    """Cutting back behind the sliding window would be silently wrong: it is read again instead."""
    files = build("dense", STORY, ggufs, window=64)
    with running(files, context=2048) as runner:
        long = tuple(runner.scheduler._encoder.ids((Text("a b c d " * 200),)))
        assert len(long) > 64 + runner.pair.ready.ubatch + 256
        runner.run(ask(prompt=(Ids(long),), max_tokens=3))
        [cut] = runner.run(ask(prompt=(Ids((*long[:100], 9)),), max_tokens=3))
        assert cut.end.tally.reused_tokens == 0
        runner.run(ask(prompt=(Ids(long),), max_tokens=3))
        [near] = runner.run(ask(prompt=(Ids((*long[:-2], 9)),), max_tokens=3))
        assert near.end.tally.reused_tokens == len(long) - 2


def test_exact_mode_cuts_off_as_cheaply_once_the_ring_has_wrapped(ggufs: Path) -> None:
    with running(build("dense", STORY, ggufs, window=64), context=2048) as runner:
        ring = runner.pair.choose(3, exact=True)[1].ring
        long = tuple(5 + i % 50 for i in range(ring + 40))

        def reused(tokens: tuple[int, ...], *, exact: bool = True) -> int:
            [reply] = runner.run(ask(prompt=(Ids(tokens),), max_tokens=5, exact=exact))
            known = tuple(runner.scheduler._encoder.ids((Ids(tokens),)))
            reused.after = (*known, *reply.tokens)  # type: ignore[attr-defined]
            return reply.end.tally.reused_tokens

        assert reused(long[:200]) == 0
        assert reused((*long[:199], 9)) == 200  # the BOS and 199
        reused(long)
        assert reused((*long[:-2], 9)) == len(long) - 1
        # Back across the ring's end, where llama.cpp alone would lose the order of the cells.
        assert reused((*long[: ring - 10], 9)) == ring - 9
        assert runner.scheduler._cache._slots[0].in_order
        following = reused.after  # type: ignore[attr-defined]
        assert reused((*following, 9)) == len(following) - 1


def test_exact_mode_trusts_no_cache_that_was_made_without_it(ggufs: Path) -> None:
    with running(build("dense", STORY, ggufs, window=64), context=512) as runner:
        runner.run(ask(draft=3, max_tokens=9, exact=False))
        [reply] = runner.run(ask(draft=3, max_tokens=9, exact=True))
        assert reply.end.tally.reused_tokens == 0
        [again] = runner.run(ask(draft=3, max_tokens=9, exact=True))
        assert again.end.tally.reused_tokens > 0
        [free] = runner.run(ask(draft=3, max_tokens=9, exact=False))
        assert free.end.tally.reused_tokens > 0


# ----------------------------------------------------------------------------------- reading ahead

LONG = (Text("a b c d " * 250),)


def test_what_was_read_ahead_is_not_read_again(ggufs: Path) -> None:
    with running(build("edge", STORY, ggufs), context=2048) as runner:
        runner.scheduler.submit(Read("r", LONG, exact=True))
        while not runner.scheduler.is_idle:
            runner.scheduler.turn()
        read = runner.reply("r")
        assert (read.end.reason, read.tokens, read.end.exact) == ("read", (), True)
        progress = [event for event in read.events if isinstance(event, Prefill)]
        assert progress[-1].done == progress[-1].total == read.end.cache.tokens
        [reply] = runner.run(ask(prompt=(*LONG, Text("and more")), exact=None, draft=3))
        assert reply.end.tally.reused_tokens == read.end.tally.prompt_tokens


def test_reading_what_is_cached_already_loses_nothing_of_it(ggufs: Path) -> None:
    with running(build("edge", STORY, ggufs), context=2048) as runner:
        [first] = runner.run(ask(prompt=LONG, exact=True, max_tokens=30))
        runner.scheduler.submit(Read("r", LONG))
        while not runner.scheduler.is_idle:
            runner.scheduler.turn()
        read = runner.reply("r").end
        assert read.reason == "read"
        assert read.tally.reused_tokens == read.tally.prompt_tokens
        assert read.cache.tokens == first.end.cache.tokens


def test_reading_ahead_waits_for_answers_and_ends_when_one_is_wanted(ggufs: Path) -> None:
    with running(build("dense", STORY, ggufs), context=2048, sequences=2) as runner:
        runner.scheduler.submit(ask("talking"))
        runner.scheduler.turn()
        runner.scheduler.submit(Read("r", LONG))
        while runner.scheduler._running:
            assert not any(s.only_reads for s in runner.scheduler._running.values())
            runner.scheduler.turn()
        runner.scheduler.turn()
        runner.scheduler.submit(Read("later", LONG))
        runner.scheduler.submit(ask("wanted", prompt=LONG, exact=None, max_tokens=3))
        for name in ("r", "later"):
            assert runner.reply(name).end.reason == "cancelled"
        while not runner.scheduler.is_idle:
            runner.scheduler.turn()
        wanted = runner.reply("wanted")
        assert wanted.end.tally.reused_tokens == runner.pair.ready.ubatch
        assert wanted.end.reason == "length"


def test_a_read_can_be_cancelled_and_refused(ggufs: Path) -> None:
    with running(build("dense", STORY, ggufs), context=256) as runner:
        runner.scheduler.submit(Read("r", (Text("a b c"),)))
        runner.scheduler.cancel("r")
        runner.scheduler.submit(Read("long", (Ids((5,) * 300),)))
        while not runner.scheduler.is_idle:
            runner.scheduler.turn()
        assert runner.reply("r").end.reason == "cancelled"
        failed = runner.reply("long").failed
        assert failed is not None and "301 tokens" in failed.message


@pytest.mark.parametrize(("limit", "is_long"), [(60.0, False), (0.0, True)])
def test_only_a_long_slice_is_broken_off(
    ggufs: Path, monkeypatch: pytest.MonkeyPatch, *, limit: float, is_long: bool
) -> None:
    monkeypatch.setattr(scheduler, "LONG_SLICE_SECONDS", limit)
    with running(build("dense", STORY, ggufs), context=2048) as runner:
        runner.scheduler.submit(Read("r", LONG))
        runner.scheduler.turn()
        assert runner.scheduler.reads_long_slices is is_long


def test_nothing_is_broken_off_once_nothing_is_read_ahead(
    ggufs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "LONG_SLICE_SECONDS", 0.0)
    with running(build("dense", STORY, ggufs), context=2048) as runner:
        runner.scheduler.submit(Read("r", LONG))
        runner.scheduler.turn()
        runner.scheduler.submit(ask(prompt=LONG))
        assert not runner.scheduler.reads_long_slices


# ----------------------------------------------------------------------------------------- abort


@pytest.mark.parametrize("phase", ["prefill", "decode"])
def test_an_aborted_pass_leaves_nothing_behind(ggufs: Path, phase: str) -> None:
    files = build("dense", STORY, ggufs, drafter=Drafter(wrong_every=3))
    with running(files) as runner:
        [expected] = runner.run(ask(draft=4, prompt=(Text("a b c"),)))
        runner.scheduler.forget()
        runner.events.clear()
        runner.scheduler.submit(ask(draft=4, prompt=(Text("a b c"),)))
        if phase == "decode":
            for _ in range(7):
                runner.scheduler.turn()
        for _ in range(3):
            runner.pair.abort.raise_flag()
            with pytest.raises(Aborted):
                runner.scheduler.turn()
            runner.pair.abort.lower()
        while not runner.scheduler.is_idle:
            runner.scheduler.turn()
        assert runner.reply("a").tokens == expected.tokens


def test_what_was_said_before_a_pass_failed_is_sent(
    ggufs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(build("dense", STORY, ggufs), sequences=2) as runner:
        monkeypatch.setattr(scheduler, "DELTA_SECONDS", 60.0)
        decoder, step = runner.pair.decoder, runner.pair.decoder.step
        said: list[int] = []

        def fail(sequences: list[Sequence]) -> None:
            step(sequences)
            if sequences[0].emitted > 20:
                said.extend(sequences[0].output.ids)
                # As if its last pass had been the first of two.
                sequences[-1].finish("length")
                raise DecodeFailed("no more")

        monkeypatch.setattr(decoder, "step", fail)
        talking, ended = runner.run(ask("a", draft=0), ask("b", draft=0, prompt=(Text("z"),)))
        assert talking.failed is not None and isinstance(talking.events[-1], Failed)
        assert list(talking.tokens) == said
        assert ended.failed is None and ended.end.reason == "length"
        assert not runner.scheduler._running


def test_deltas_are_batched_and_complete(ggufs: Path) -> None:
    with running(build("dense", STORY, ggufs)) as runner:
        [reply] = runner.run(ask(draft=3, sampling=Sampling(temperature=0.0)))
        deltas = [event for event in reply.events if isinstance(event, Delta)]
        assert len(deltas) < len(reply.tokens) / 2
        assert isinstance(reply.events[-1], Done)
        assert all(len(d.tokens) == len(d.drafted) for d in deltas)
        assert reply.tokens == reply.end.tokens

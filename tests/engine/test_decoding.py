"""Promise 1: drafting changes speed, not text. Every Gemma 4 kind, through the real graph."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemma_local.engine.messages import Sampling
from gemma_local.engine.pace.step import Step
from gemma_local.engine.pace.tracker import Seat
from gemma_local.engine.runtime.context import Context
from gemma_local.models.prompt import Ids, Text
from tests.engine.running import PROMPT, ask, running
from tests.ggufs import NAN, Drafter, build, build_shallow, byte_tokens, script

KINDS = ["dense", "keqv", "edge", "moe"]
LENGTHS = [0, 1, 2, 3, 4, 6, 8]

# Longer than the sliding window, so that roll-backs happen at every place of its ring.
STORY = script(["Once", *(f" word{i}" for i in range(150)), "."])
VARIED = script(
    [
        "The",
        *({f" red{i}": 0.5, f" blue{i}": 0.3, f" green{i}": 0.2} for i in range(30)),
        " end",
    ]
)


@pytest.mark.parametrize("kind", KINDS)
def test_greedy_text_is_the_same_at_every_draft_length(ggufs: Path, kind: str) -> None:
    files = build(kind, STORY, ggufs, drafter=Drafter(wrong_every=3))
    with running(files) as runner:
        for length in LENGTHS:
            [reply] = runner.run(ask(draft=length))
            assert (reply.text, reply.end.reason) == (STORY.text, "stop")
            tally = reply.end.tally
            if length == 0:
                assert (tally.drafted, tally.acceptance) == (0, None)
                continue
            expected = files.expected(length, 10_000)
            assert tally.passes == expected.passes
            assert (tally.drafted, tally.accepted) == (expected.drafted, expected.accepted)
            assert tally.accepted_by_position == tuple(expected.accepted_by_position)
            assert tally.drafted_by_position == tuple(expected.drafted_by_position)
            # The token that ends the turn may be an accepted draft; it is not emitted.
            assert sum(reply.drafted) in {tally.accepted, tally.accepted - 1}


def test_what_the_text_said_before_is_drafted_to_the_end_of_the_turn(
    ggufs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = build_shallow("dense", STORY, ggufs)
    with running(files, context=1024) as runner:
        [said] = runner.run(ask(draft=0))
        decoder = runner.pair.decoder
        end = decoder.target.model.vocabulary.id_of("<turn|>")
        plan = decoder.pace.plan
        found: list[list[int]] = []

        def spy(seats: list[Seat], threads: int, context: int) -> Step:
            found.extend(list(seat.continuation) for seat in seats)
            for seat in seats:
                # A pass that keeps a long draft may end exactly where the turn does, whose end
                # then is the target's next token and never part of a draft.
                seat.room = min(seat.room, 2)
            return plan(seats, threads, context)

        monkeypatch.setattr(decoder.pace, "plan", spy)
        before = Ids((*said.tokens, end, *said.tokens[:20]))
        [again] = runner.run(ask(draft=None, prompt=(before, *PROMPT)))
    assert again.tokens == said.tokens
    assert any(end in tokens for tokens in found)
    assert not any(end in tokens[:-1] for tokens in found)


@pytest.mark.parametrize("kind", KINDS)
def test_seeded_text_is_the_same_at_every_draft_length(ggufs: Path, kind: str) -> None:
    files = build_shallow(kind, VARIED, ggufs, drafter=Drafter(wrong_every=4))
    with running(files) as runner:
        texts = set()
        for seed in (1, 2, 3):
            sampling = Sampling(temperature=1.0, seed=seed)
            replies = [runner.run(ask(draft=n, sampling=sampling))[0] for n in LENGTHS]
            assert len({reply.tokens for reply in replies}) == 1
            texts.add(replies[0].text)
        assert len(texts) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_four_sequences_at_once_say_what_each_says_alone(ggufs: Path, kind: str) -> None:
    files = build_shallow(kind, VARIED, ggufs, drafter=Drafter(wrong_every=4))
    seeds = (11, 12, 13, 14)

    def requests(length: int) -> list:  # type: ignore[type-arg]
        return [
            ask(f"r{seed}", draft=length, sampling=Sampling(seed=seed), max_tokens=40 + seed)
            for seed in seeds
        ]

    with running(files) as runner:
        alone = [runner.run(request)[0].tokens for request in requests(0)]
    with running(files, sequences=4) as runner:
        for length in LENGTHS:
            together = [reply.tokens for reply in runner.run(*requests(length))]
            assert together == alone


def test_drafts_are_made_in_the_order_of_slots(
    ggufs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In any other order llama.cpp takes the drafter's passes apart."""
    files = build_shallow("dense", STORY, ggufs, drafter=Drafter(wrong_every=3))
    with running(files, sequences=3) as runner:
        scheduler, orders = runner.scheduler, set[tuple[int, ...]]()
        drafted: list[list[int]] = []
        decode = Context.decode

        def spy(context: Context, *rows: list[int]) -> None:
            if context.is_drafter:
                drafted.append(list(rows[2]))
            decode(context, *rows)

        monkeypatch.setattr(Context, "decode", spy)
        for i in range(5):
            prompt = (Text("abcde"[i]),)
            scheduler.submit(ask(f"r{i}", prompt=prompt, draft=2, max_tokens=9 + 6 * i))
        while not scheduler.is_idle:
            scheduler.turn()
            orders.add(tuple(scheduler._running))
        assert any(len(order) == 3 and list(order) != sorted(order) for order in orders)
        assert all(slots == sorted(slots) for slots in drafted)
        assert [0, 1, 2] in drafted


def test_each_sequence_may_draft_another_length(ggufs: Path) -> None:
    files = build_shallow("dense", STORY, ggufs, drafter=Drafter(wrong_every=3))
    with running(files, sequences=4) as runner:
        replies = runner.run(*(ask(f"r{n}", draft=n) for n in (0, 2, 5, 8)))
        assert [reply.text for reply in replies] == [STORY.text] * 4
        for reply, length in zip(replies[1:], (2, 5, 8), strict=True):
            expected = files.expected(length, 10_000)
            assert reply.end.tally.accepted_by_position == tuple(expected.accepted_by_position)


@pytest.mark.parametrize("length", [0, 3, 8])
@pytest.mark.parametrize("limit", [1, 2, 3, 7, 50])
def test_max_tokens_counts_emitted_tokens_only(ggufs: Path, length: int, limit: int) -> None:
    files = build_shallow("dense", STORY, ggufs, drafter=Drafter(wrong_every=3))
    with running(files) as runner:
        [reply] = runner.run(ask(draft=length, max_tokens=limit))
        assert len(reply.tokens) == reply.end.tally.emitted_tokens == limit
        assert reply.end.reason == "length"


@pytest.mark.parametrize("length", [0, 3, 8])
def test_drafts_never_pass_the_end_of_the_context(ggufs: Path, length: int) -> None:
    endless = script([f" step{i}" for i in range(90)], loop_to=0)
    files = build_shallow("dense", endless, ggufs, drafter=Drafter(wrong_every=5))
    with running(files, context=256) as runner:
        [reply] = runner.run(ask(draft=length))
        assert reply.end.reason == "context"
        assert reply.end.tally.prompt_tokens + len(reply.tokens) == 256 + 1


@pytest.mark.parametrize("end", ["<turn|>", "<eos>", "<|tool_response>"])
def test_every_end_of_turn_ends_inside_a_draft_too(ggufs: Path, end: str) -> None:
    spec = script(["Yes", ".", " Done"], end=end)
    files = build_shallow("dense", spec, ggufs)
    with running(files) as runner:
        for length in (0, 1, 2, 8):
            [reply] = runner.run(ask(draft=length))
            assert (reply.text, reply.end.reason) == ("Yes. Done", "stop")
            assert reply.end.end_token == files.vocabulary.id(end)
            assert reply.end.tokens == reply.tokens and len(reply.tokens) == 3


def test_ignoring_the_end_goes_on(ggufs: Path) -> None:
    files = build_shallow("dense", script(["a", "b"]), ggufs)
    with running(files) as runner:
        for length in (0, 3):
            [reply] = runner.run(ask(draft=length, max_tokens=9, ignore_end=True))
            assert (len(reply.tokens), reply.end.reason) == (9, "length")


@pytest.mark.parametrize("length", [0, 1, 4])
def test_characters_that_span_tokens_arrive_whole(ggufs: Path, length: int) -> None:
    spec = script(["caf", *byte_tokens("é"), " ", *byte_tokens("日本🙂"), "!"])
    with running(build_shallow("dense", spec, ggufs)) as runner:
        [reply] = runner.run(ask(draft=length))
        assert reply.text == "café 日本🙂!"
        assert "\ufffd" not in reply.text


def test_a_character_that_is_cut_off_is_shown_as_missing(ggufs: Path) -> None:
    spec = script(["caf", *byte_tokens("é"), "!"])
    with running(build_shallow("dense", spec, ggufs)) as runner:
        [reply] = runner.run(ask(draft=3, max_tokens=2))
        assert reply.text == "caf\ufffd"


def test_pieces_of_any_length_print_whole(ggufs: Path) -> None:
    spec = script(["x" * 40, "y" * 300, "─" * 200, "."])
    with running(build_shallow("dense", spec, ggufs)) as runner:
        assert runner.run(ask(draft=2))[0].text == "x" * 40 + "y" * 300 + "─" * 200 + "."


def test_control_tokens_are_silent_and_user_defined_ones_print(ggufs: Path) -> None:
    spec = script(["<|channel>", "thought", "<channel|>", "<|think|>", "Hi", '<|"|>', "."])
    files = build_shallow("dense", spec, ggufs)
    with running(files) as runner:
        [reply] = runner.run(ask(draft=3))
        assert reply.text == 'thought<channel|>Hi<|"|>.'.join(["<|channel>", ""])
        assert files.vocabulary.id("<|think|>") in reply.tokens


@pytest.mark.parametrize("length", [0, 1, 3, 8])
def test_stop_strings_also_across_tokens_and_drafts(ggufs: Path, length: int) -> None:
    with running(build_shallow("dense", STORY, ggufs, drafter=Drafter(wrong_every=4))) as runner:
        [reply] = runner.run(ask(draft=length, stop=("nowhere", "d7 word8 wo")))
        assert reply.text == "Once" + "".join(f" word{i}" for i in range(7)) + " wor"
        assert (reply.end.reason, reply.end.detail) == ("stop_string", "d7 word8 wo")


@pytest.mark.parametrize("length", [0, 3, 8])
@pytest.mark.parametrize("cycle", [["ha"], ["Again", " and", " again"]])
def test_an_endless_loop_is_noticed(ggufs: Path, cycle: list[str], length: int) -> None:
    files = build_shallow("dense", script(cycle, loop_to=0), ggufs)
    with running(files, context=1024) as runner:
        [reply] = runner.run(ask(draft=length))
        assert reply.end.reason == "loop"
        assert len(reply.tokens) < 500


@pytest.mark.parametrize("sampling", [Sampling(temperature=0.0), Sampling(seed=3)])
@pytest.mark.parametrize("length", [0, 4])
def test_logits_that_are_no_numbers_end_the_answer(
    ggufs: Path, sampling: Sampling, length: int
) -> None:
    spec = script(["fine", " until", " here"], end=NAN)
    with running(build_shallow("dense", spec, ggufs)) as runner:
        [reply] = runner.run(ask(draft=length, sampling=sampling))
        assert (reply.text, reply.end.reason) == ("fine until here", "nan")
        assert runner.run(ask(draft=length, max_tokens=2))[0].text == "fine until"


def test_lenience_accepts_what_is_nearly_as_likely(ggufs: Path) -> None:
    spec = script(["A", *({f" x{i}": 0.55, f" y{i}": 0.45} for i in range(40)), "."])
    files = build_shallow("dense", spec, ggufs)
    with running(files) as runner:

        def acceptance(lenience: float) -> float:
            sampling = Sampling(seed=5, lenience=lenience)
            [reply] = runner.run(ask(draft=3, sampling=sampling))
            rate = reply.end.tally.acceptance
            assert rate is not None
            return rate

        assert acceptance(0.0) < 0.9
        assert acceptance(0.5) == pytest.approx(1.0, abs=0.03)


def test_an_interrupted_answer_goes_on_as_it_would_have(ggufs: Path) -> None:
    files = build_shallow("edge", VARIED, ggufs, drafter=Drafter(wrong_every=4))
    sampling = Sampling(seed=9)
    with running(files) as runner:
        [whole] = runner.run(ask(draft=3, sampling=sampling, max_tokens=25))
    with running(files) as runner:
        [rest] = runner.run(
            ask(draft=3, sampling=sampling, max_tokens=25, produced=whole.tokens[:10])
        )
        assert rest.tokens == whole.tokens[10:]
        assert rest.end.tokens == whole.tokens
        assert whole.text.endswith(rest.text)
        [none_left] = runner.run(ask(max_tokens=3, produced=whole.tokens[:3]))
        assert (none_left.tokens, none_left.end.reason) == ((), "length")


def test_without_a_drafter_everything_works_plain(ggufs: Path) -> None:
    files = build_shallow("dense", STORY, ggufs)
    with running(files, with_drafter=False) as runner:
        [reply] = runner.run(ask(draft=6))
        assert (reply.text, reply.end.tally.drafted) == (STORY.text, 0)

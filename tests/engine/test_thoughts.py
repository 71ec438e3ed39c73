"""A thought is closed in time, and the answer still comes, whatever the draft length."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemma_local.engine.channel import Channel
from gemma_local.engine.messages import Sampling
from gemma_local.models.prompt import Control, Prompt, Text
from tests.engine.running import Reply, ask, running
from tests.ggufs import Drafter, Pair, build, script

THOUGHT = [f" think{i}" for i in range(60)]
ANSWER = [f" say{i}" for i in range(20)]
SPEC = script(["<|channel>", "thought", "\n", *THOUGHT, "<channel|>", *ANSWER])
TURN: Prompt = (Control("<|turn>"), Text("model\n"))
DRAFTS = (0, 1, 3, 6)


@pytest.fixture(scope="module")
def thinker(ggufs: Path) -> Pair:
    return build("dense", SPEC, ggufs / "thinker", drafter=Drafter(wrong_every=4))


def parts(reply: Reply) -> tuple[str, str]:
    thought, _, answer = reply.text.partition("<channel|>")
    return thought.removeprefix("<|channel>thought\n"), answer


def test_without_a_limit_it_thinks_to_the_end(thinker: Pair) -> None:
    with running(thinker) as runner:
        [reply] = runner.run(ask(prompt=TURN))
        assert parts(reply) == ("".join(THOUGHT), "".join(ANSWER))


def test_a_budget_closes_the_thought_and_the_answer_follows(thinker: Pair) -> None:
    with running(thinker) as runner:
        replies = [
            runner.run(ask(prompt=TURN, draft=draft, thought_tokens=12))[0] for draft in DRAFTS
        ]
        # The channel's name takes two of the twelve.
        assert parts(replies[0]) == ("".join(THOUGHT[:10]), "".join(ANSWER))
        assert {reply.tokens for reply in replies} == {replies[0].tokens}
        assert replies[2].end.tally.accepted > 20


def test_max_tokens_leaves_room_for_the_answer(thinker: Pair) -> None:
    with running(thinker) as runner:
        [reply] = runner.run(ask(prompt=TURN, max_tokens=40))
        thought, answer = parts(reply)
        assert reply.end.reason == "length"
        assert len(reply.tokens) == 40
        # A fourth is the answer's; its first token is the end of the thought.
        assert answer == "".join(ANSWER[:9])
        assert thought == "".join(THOUGHT[:27])


def test_a_full_context_leaves_room_for_the_answer(thinker: Pair) -> None:
    with running(thinker, context=64) as runner:
        [reply] = runner.run(ask(prompt=TURN))
        assert reply.end.reason == "context"
        assert parts(reply)[1].startswith("".join(ANSWER[:10]))


def test_a_prompt_that_opens_a_thought_is_in_it_from_the_start(thinker: Pair) -> None:
    opened: Prompt = (*TURN, Control("<|channel>"), Text("thought\n"))
    with running(thinker) as runner:
        [reply] = runner.run(ask(prompt=opened, opens_thought=True, thought_tokens=5))
        assert reply.text == "".join(THOUGHT[:5]) + "<channel|>" + "".join(ANSWER)


def test_a_spent_budget_lets_no_second_thought_begin(ggufs: Path) -> None:
    # Thinks again and again, where it may: else it takes the second choice.
    again = {"<|channel>": 0.9, " done": 0.1}
    spec = script(["<|channel>", " hm", " hm2", "<channel|>", again], loop_to=1)
    thinking, answering = "<|channel> hm hm2<channel|>", " done hm hm2<channel|>"
    with running(build("dense", spec, ggufs / "again")) as runner:
        for draft in DRAFTS:
            [reply] = runner.run(ask(prompt=TURN, draft=draft, thought_tokens=6, max_tokens=36))
            assert reply.text == 3 * thinking + 6 * answering


def test_an_interrupted_answer_goes_on_with_the_budget_it_had(thinker: Pair) -> None:
    with running(thinker) as runner:
        sampling = Sampling(seed=1)
        [whole] = runner.run(ask(prompt=TURN, thought_tokens=12, sampling=sampling))
        for cut in (1, 8, 12, 13, 14, 20):
            [rest] = runner.run(
                ask(prompt=TURN, thought_tokens=12, sampling=sampling, produced=whole.tokens[:cut])
            )
            assert rest.tokens == whole.tokens[cut:]


def test_stop_strings_end_answers_and_no_thoughts(thinker: Pair) -> None:
    with running(thinker) as runner:
        [reply] = runner.run(ask(prompt=TURN, stop=("think5", "say5")))
        assert reply.end.reason == "stop_string"
        assert parts(reply) == ("".join(THOUGHT), "".join(ANSWER[:5]) + " ")


def test_each_token_s_piece_is_its_own_text(thinker: Pair) -> None:
    with running(thinker) as runner:
        [reply] = runner.run(ask(prompt=TURN, stop=("never said",)))
        vocabulary = runner.pair.decoder.target.model.vocabulary
        pieces = [p for e in reply.events if hasattr(e, "pieces") for p in e.pieces]
        assert len(pieces) == len(reply.tokens)
        markers = {vocabulary.id_of(text): text for text in ("<|channel>", "<channel|>")}
        shown = {pieces[i] for i, token in enumerate(reply.tokens) if token in markers}
        assert shown == set(markers.values())


def test_the_channel_follows_tokens() -> None:
    markers = {"<|channel>": 1, "<channel|>": 2, "<|tool_call>": 3, "<tool_call|>": 4}
    channel = Channel(markers)
    places = [channel.feed(token) for token in (9, 1, 9, 9, 2, 9, 3, 9, 4, 9)]
    assert places == [
        *("answer", "thought", "thought", "thought", "thought"),
        *("answer", "call", "call", "call", "answer"),
    ]
    assert channel.thought_tokens == 2
    assert Channel({}).feed(1) == "answer"

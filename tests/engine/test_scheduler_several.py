"""Several requests at once: each says what it says alone, and none gets in another's way."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gemma_local.engine.messages import Delta, Generate, Prefill, Sampling
from gemma_local.engine.passes import Pass
from gemma_local.engine.runtime.context import Context, Floats
from gemma_local.engine.sequence import Sequence
from gemma_local.engine.turns import Turns
from gemma_local.models.prompt import Ids, Prompt, Text
from tests.engine.histories import in_short_slices, window_pair
from tests.engine.running import Runner, ask, running
from tests.ggufs import Drafter, Random, build_shallow, script

STORY = script(["Once", *(f" word{i}" for i in range(150)), "."])
LONG: Prompt = (Text("a b c d " * 250),)


def tokens_of(runner: Runner, prompt: Prompt) -> int:
    return len(runner.scheduler._encoder.ids(prompt))


def finish(runner: Runner) -> None:
    while not runner.scheduler.is_idle:
        runner.scheduler.turn()


# ------------------------------------------------------------------------------- the same as alone


@dataclass(frozen=True)
class Act:
    """What happens before turn number ``turn``: a request comes, or one is cancelled."""

    turn: int
    request: int
    cancels: bool


acts = st.lists(
    st.builds(Act, st.integers(0, 40), st.integers(0, 5), st.booleans()), min_size=3, max_size=12
)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("kind", ["dense", "edge"])
def test_texts_are_those_of_single_runs_whoever_comes_and_goes(
    ggufs: Path, kind: str, *, exact: bool
) -> None:
    files = build_shallow(kind, Random(pull=15.0), ggufs, tensor_type="Q4_0")
    prompts: list[Prompt] = [
        (Text(text * 9),) for text in ("one day ", "def f(x): ", "no ", "all ", "one day ")
    ]
    prompts.append((*prompts[0], Text("and more")))
    wanted = [
        ask(
            f"r{i}", prompt=prompt, draft=(3, 0, 8, 1, 3, 2)[i], exact=exact, max_tokens=20 + 7 * i,
            sampling=Sampling(seed=i) if exact and i % 2 else Sampling(temperature=0.0),
        )
        for i, prompt in enumerate(prompts)
    ]  # fmt: skip
    with running(files, sequences=3, context=512) as runner:
        alone = []
        for request in wanted:
            [reply] = runner.run(request)
            alone.append(reply.tokens)
            for slot in runner.scheduler._cache._slots:
                slot.clear()

        @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
        @given(acts)
        def check(history: list[Act]) -> None:
            for slot in runner.scheduler._cache._slots:
                slot.clear()
            runner.events.clear()
            came: set[int] = set()
            cancelled: set[int] = set()
            for turn in range(42):
                for act in history:
                    if act.turn == turn and act.cancels:
                        runner.scheduler.cancel(f"r{act.request}")
                        cancelled |= {act.request} & came
                    elif act.turn == turn and act.request not in came:
                        came.add(act.request)
                        runner.scheduler.submit(wanted[act.request])
                runner.scheduler.turn()
            finish(runner)
            for number in came:
                said = runner.reply(f"r{number}").tokens
                if number in cancelled:
                    said, full = said, alone[number][: len(said)]
                else:
                    full = alone[number]
                # In passes of unequal shape the last bits differ, and with them a text now and
                # then; the exact mode is there for that.
                assert said == full or not exact, number

        check()


@pytest.mark.parametrize("draft", [0, 1, 3, 7])
def test_a_script_is_said_by_all_of_them(ggufs: Path, draft: int) -> None:
    files = build_shallow("dense", STORY, ggufs, drafter=Drafter(wrong_every=3))
    with running(files, sequences=4) as runner:
        requests = [
            ask(f"r{i}", prompt=(Text("say " * (3 * i + 1)),), draft=min(draft + i, 8))
            for i in range(7)
        ]
        for reply in runner.run(*requests):
            assert (reply.text, reply.end.reason) == (STORY.text, "stop")


@pytest.mark.parametrize("tensor_type", ["Q4_0", "F16", "Q4_K"])
def test_exact_rows_have_the_bits_that_they_have_alone(ggufs: Path, tensor_type: str) -> None:
    """Prompts of unequal length, that begin alike in part, and drafts of unequal length."""
    files = window_pair("edge", ggufs, tensor_type)
    base = tuple(60 + i * 7 % 80 for i in range(200))
    prompts = [(*base[: 30 * i + 70], *(90 + i + j for j in range(5 * i))) for i in range(5)]
    with in_short_slices(files, sequences=4, context=512) as runner:
        rows: dict[str, list[bytes]] = {}

        def note(sequence: Sequence, row: Floats) -> None:
            rows.setdefault(sequence.request.id, []).append(row.tobytes())

        def request(i: int) -> Generate:
            return ask(
                f"r{i}", prompt=(Ids(prompts[i]),), exact=True, draft=(3, 0, 1, 7, 3)[i],
                max_tokens=30, ignore_end=True,
            )  # fmt: skip

        runner.pair.decoder.observer = note
        for i in range(5):
            for slot in runner.scheduler._cache._slots:
                slot.clear()
            runner.run(request(i))
        alone, rows = rows, {}
        for slot in runner.scheduler._cache._slots:
            slot.clear()
        replies = runner.run(*(request(i) for i in range(5)))
        assert rows == alone
        assert sum(reply.end.tally.reused_tokens for reply in replies) > 0


# ----------------------------------------------------------------------------------- shared passes


def batches(
    runner: Runner, monkeypatch: pytest.MonkeyPatch, *requests: Generate
) -> list[list[int]]:
    """The slots of the rows of each decode call while these requests decode together."""
    seen: list[list[int]] = []
    decode = Context.decode

    def spy(
        context: Context, tokens: list[int], positions: list[int], slots: list[int], w: list[int]
    ) -> None:
        if not context.is_drafter:
            seen.append(list(slots))
        decode(context, tokens, positions, slots, w)

    for request in requests:
        runner.scheduler.submit(request)
    while any(s.to_prefill for s in runner.scheduler._running.values()) or not seen:
        runner.scheduler.turn()
        if len(runner.scheduler._running) == len(requests):
            monkeypatch.setattr(Context, "decode", spy)
    seen.clear()
    for _ in range(6):
        runner.scheduler.turn()
    monkeypatch.undo()
    finish(runner)
    return seen


@pytest.mark.parametrize("exact", [False, True])
def test_sequences_share_a_pass_that_llama_does_not_take_apart(
    ggufs: Path, monkeypatch: pytest.MonkeyPatch, *, exact: bool
) -> None:
    files = build_shallow("dense", STORY, ggufs, tensor_type="Q4_0")
    with running(files, sequences=4) as runner:
        requests = [
            ask(f"r{i}", prompt=(Text("ab"[i % 2] * (i + 1)),), draft=2, exact=exact)
            for i in range(4)
        ]
        rows = 4 if exact else 3
        seen = batches(runner, monkeypatch, *requests)
        for slots in seen:
            # Which of them share one depends on what passes cost.
            members = range(slots[0], slots[-1] + 1)
            assert slots == [slot for slot in members for _ in range(rows)]
        assert any(len(slots) > rows for slots in seen)


def test_k_quants_are_exact_in_passes_of_their_own(
    ggufs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = build_shallow("dense", STORY, ggufs, tensor_type="Q4_K")
    with running(files, sequences=2) as runner:
        requests = [ask(f"r{i}", prompt=(Text("ab"[i]),), draft=2, exact=True) for i in range(2)]
        seen = batches(runner, monkeypatch, *requests)
        assert {tuple(slots) for slots in seen} == {(0,) * 4, (1,) * 4}


# ------------------------------------------------------------------------------------- long prompts


def test_an_answer_goes_on_between_the_slices_of_a_long_prompt(ggufs: Path) -> None:
    with running(build_shallow("dense", STORY, ggufs), context=2048, sequences=2) as runner:
        scheduler = runner.scheduler
        scheduler.submit(ask("talking", draft=0))
        scheduler.turn()
        scheduler.submit(ask("reading", prompt=LONG, max_tokens=2))
        said, slices = [], 0
        while not slices or any(s.to_prefill for s in scheduler._running.values()):
            scheduler.turn()
            slices += 1
            said.append(len(scheduler._running[0].output.ids))
        assert slices >= 4
        assert all(after == before + 1 for before, after in pairwise(said))
        finish(runner)
        order = [event.id for event in runner.events if isinstance(event, Delta | Prefill)]
        first, last = order.index("reading"), len(order) - 1 - order[::-1].index("reading")
        assert "talking" in order[first:last]


def test_slices_are_short_only_while_others_wait(ggufs: Path) -> None:
    with running(build_shallow("dense", STORY, ggufs), context=2048, sequences=2) as runner:
        limits = runner.pair.choose(0, exact=False)[1]
        assert 0 < limits.short_slice < limits.slice

        def ends(name: str) -> list[int]:
            return [e.done for e in runner.reply(name).events if isinstance(e, Prefill)]

        [_reply] = runner.run(ask("alone", prompt=LONG, max_tokens=1))
        assert ends("alone")[0] == limits.slice
        runner.scheduler.submit(ask("talking", draft=0))
        runner.scheduler.turn()
        runner.scheduler.submit(ask("in company", prompt=(Text("x y z " * 300),), max_tokens=1))
        finish(runner)
        assert ends("in company")[:3] == [limits.short_slice * n for n in (1, 2, 3)]


def test_prompts_take_turns(ggufs: Path) -> None:
    with running(build_shallow("dense", STORY, ggufs), context=2048, sequences=3) as runner:
        prompts = [(Text(f"{word} " * 900),) for word in ("x", "y", "z")]
        replies = runner.run(
            *(ask(f"r{i}", prompt=prompt, max_tokens=1) for i, prompt in enumerate(prompts))
        )
        assert all(reply.end.reason == "length" for reply in replies)
        order = [event.id for event in runner.events if isinstance(event, Prefill)]
        assert order[:6] in (["r0", "r1", "r2"] * 2, ["r0", "r1", "r0", "r2", "r1", "r0"])
        for name in ("r0", "r1", "r2"):
            places = [place for place, other in enumerate(order) if other == name]
            assert max(b - a for a, b in pairwise(places)) <= 3


# ----------------------------------------------------------------------------------------- prefixes


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("window", [64, 512])
def test_the_same_prompt_is_read_once(ggufs: Path, window: int, *, exact: bool) -> None:
    files = build_shallow("dense", STORY, ggufs, window=window, tensor_type="Q4_0")
    with running(files, context=2048, sequences=4) as runner:
        replies = runner.run(*(ask(f"r{i}", prompt=LONG, draft=3, exact=exact) for i in range(4)))
        count = tokens_of(runner, LONG)
        grid = runner.pair.choose(3, exact)[1].slice if exact else 1
        read = [reply.end.tally.prefilled_tokens for reply in replies]
        assert read[0] == count
        assert max(read[1:]) <= grid
        assert {reply.text for reply in replies} == {STORY.text}


def test_a_common_beginning_is_read_once_also_by_those_that_come_later(ggufs: Path) -> None:
    files = build_shallow("dense", STORY, ggufs, window=64)
    with running(files, context=2048, sequences=2) as runner:
        replies = runner.run(
            *(ask(f"r{i}", prompt=(*LONG, Text(f" {i} " * 20)), draft=3) for i in range(6))
        )
        shared = tokens_of(runner, LONG)
        reused = [reply.end.tally.reused_tokens for reply in replies]
        assert reused[0] == 0
        assert min(reused[1:]) >= shared - 1
        assert {reply.text for reply in replies} == {STORY.text}


def test_who_waits_for_a_beginning_does_not_hold_up_others(ggufs: Path) -> None:
    with running(build_shallow("dense", STORY, ggufs), context=2048, sequences=2) as runner:
        scheduler = runner.scheduler
        for name, prompt in (("first", LONG), ("same", LONG), ("other", (Text("hello"),))):
            scheduler.submit(ask(name, prompt=prompt, max_tokens=40))
        scheduler.turn()
        assert {s.request.id for s in scheduler._running.values()} == {"first", "other"}
        # When the one it waits for is gone it reads what is missing itself.
        scheduler.cancel("first")
        finish(runner)
        same = runner.reply("same").end
        assert same.reason == "length"
        assert 0 < same.tally.reused_tokens < tokens_of(runner, LONG) - 1


# --------------------------------------------------------------------------------- whose turn it is


def test_higher_priority_comes_first(ggufs: Path) -> None:
    with running(build_shallow("dense", STORY, ggufs), sequences=1) as runner:
        runner.run(
            *(
                ask(f"r{i}", prompt=(Text(f"{i} {i}"),), max_tokens=3, priority=i % 3)
                for i in range(6)
            )
        )
        order = [event.id for event in runner.events if isinstance(event, Prefill)]
        # The fourth turn goes to who waited longest.
        assert order == ["r2", "r5", "r1", "r0", "r4", "r3"]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=8), st.integers(1, 6))
def test_nobody_is_passed_over_for_ever(priorities: list[int], newcomers: int) -> None:
    turns, waiting = Turns(), [(priority, n) for n, priority in enumerate(priorities)]
    first = set(waiting)
    for given_turns in range(1, 4 * len(priorities) + 1):
        one = turns.pick(waiting, lambda item: item[0])
        waiting.remove(one)
        first.discard(one)
        # More important ones keep coming.
        waiting += [(10, 1000 * given_turns + n) for n in range(newcomers)]
    assert not first


# --------------------------------------------------------------------------------------- the end


def test_a_request_that_fails_leaves_the_others_alone(ggufs: Path) -> None:
    with running(build_shallow("dense", STORY, ggufs), sequences=2, context=256) as runner:
        good, long, bad, last = runner.run(
            ask("good"),
            ask("long", prompt=(Ids((5,) * 300),)),
            ask("bad", grammar="root ::= ("),
            ask("last", prompt=(Text("z"),)),
        )
        assert (good.text, last.text) == (STORY.text, STORY.text)
        assert long.failed is not None and "301 tokens" in long.failed.message
        assert bad.failed is not None


def test_only_a_pass_that_nobody_else_needs_is_broken_off(ggufs: Path) -> None:
    with running(build_shallow("dense", STORY, ggufs), sequences=2) as runner:
        runner.scheduler.submit(ask("one"))
        runner.scheduler.turn()
        assert not runner.scheduler.runs_beside("one")
        runner.scheduler.submit(ask("two", prompt=(Text("z"),)))
        runner.scheduler.turn()
        assert runner.scheduler.runs_beside("one")


def test_rows_that_fill_a_pass_up_are_not_asked_for(ggufs: Path) -> None:
    files = build_shallow("dense", STORY, ggufs)
    with running(files, sequences=2) as runner:
        made: list[Pass] = []
        batch = Pass.batch

        def spy(one: Pass) -> tuple[list[int], list[int], list[int], list[int]]:
            made.append(one)
            return batch(one)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Pass, "batch", spy)
            runner.run(
                ask("a", draft=1, max_tokens=40),
                ask("b", prompt=(Text("z"),), draft=3, max_tokens=40),
            )
        shared = [one for one in made if len(one.sequences) == 2]
        assert any(len(set(map(len, one.drafts))) > 1 for one in shared)
        for one in shared:
            _tokens, _positions, _slots, wanted = batch(one)
            assert sum(wanted) == sum(map(len, one.drafts)) + 2


def test_a_pair_needs_room_for_the_rows_of_all(ggufs: Path) -> None:
    files = build_shallow("dense", STORY, ggufs, tensor_type="Q4_0")
    for draft_max in (0, 3, 8, 16):
        with running(files, sequences=4, draft_max=draft_max) as runner:
            options = runner.pair.decoder.target.options
            limits = [runner.pair.choose(draft_max, exact)[1] for exact in (False, True)]
            assert limits[1].rows * 4 <= options.rows <= options.ubatch
            assert 4 * (draft_max + 1) <= limits[0].rows <= options.rows

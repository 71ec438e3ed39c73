"""Drafting as far as pays, on real passes: the same text, and figures that add up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gemma_local.engine.commands import LOOKUP_MAX, USUAL_LOOKUP
from gemma_local.engine.drafters.mtp import MtpDrafter, confidence
from gemma_local.engine.messages import PaceTally, Sampling
from gemma_local.engine.pace.cost import DRAFTED, CostTable
from gemma_local.engine.pace.pace import Pace
from gemma_local.engine.pace.watch import Watch
from gemma_local.engine.sequence import Sequence
from tests.engine.running import GREEDY, Reply, ask, running
from tests.ggufs import Drafter, Random, build_shallow, script

STORY = script(["Once", *(f" word{i}" for i in range(150)), "."])
ROUND = script([f" step{i}" for i in range(60)], loop_to=0)
HALF_RIGHT = Random(pull=15.0)
CHEAP = {rows: 1.0 + 0.01 * rows for rows in range(1, 65)}
"""Seconds of passes whose rows come nearly for nothing."""
DEAR = {rows: 0.04 + 0.96 * rows for rows in range(1, 65)}
TOO_DEAR = {rows: 1.0 * rows for rows in range(1, 65)}
"""Not even drafts that are always right would pay."""


@pytest.fixture(scope="module")
def ggufs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ggufs")


def teach(pace: Pace, seconds: dict[int, float], patch: pytest.MonkeyPatch) -> None:
    """Have pace believe that passes take so long, whatever they take here and now."""
    for rows, each in seconds.items():
        for _ in range(8):
            pace.costs.table(1, 0).observe(rows, each)
    for _ in range(8):
        pace.costs.table(1, 0).observe(DRAFTED, 0.01)
    patch.setattr(CostTable, "observe", lambda *_: None)
    patch.setattr(Watch, "observe", lambda *_: None)


def adds_up(reply: Reply) -> PaceTally:
    """The pace tally of a reply, after a look at all sums."""
    tally = reply.end.tally
    pace = tally.pace
    assert pace is not None
    assert sum(pace.lengths) == tally.passes
    assert sum(n * count for n, count in enumerate(pace.lengths)) == tally.drafted
    assert pace.parked <= pace.lengths[0]
    assert tally.drafted == sum(source.drafted for source in tally.sources)
    assert tally.accepted == sum(source.accepted for source in tally.sources)
    for source in tally.sources:
        assert sum(source.drafted_by_position) == source.drafted
        assert sum(source.accepted_by_position) == source.accepted <= source.drafted
        assert source.seconds > 0.0
    assert sum(tally.drafted_by_position) == tally.drafted
    # Reading the prompt gave the first one.
    assert tally.decoded_tokens == len(reply.tokens) - 1
    assert pace.seconds > 0.0
    return pace


@pytest.mark.parametrize("kind", ["dense", "keqv", "edge", "moe"])
@pytest.mark.parametrize("sampling", [GREEDY, Sampling(seed=3)])
def test_the_text_is_that_of_plain_decoding(ggufs: Path, kind: str, sampling: Sampling) -> None:
    files = build_shallow(kind, STORY, ggufs, drafter=Drafter(wrong_every=3))
    with running(files) as runner:
        [plain] = runner.run(ask(draft=0, sampling=sampling))
        for _ in range(3):
            [auto] = runner.run(ask(draft=None, sampling=sampling))
            assert auto.tokens == plain.tokens
            adds_up(auto)
    assert plain.end.tally.pace is None


@pytest.mark.parametrize("quantisation", ["Q8_0", "Q4_K"])
def test_in_exact_mode_no_bit_differs_from_plain_decoding(ggufs: Path, quantisation: str) -> None:
    files = build_shallow("dense", HALF_RIGHT, ggufs, tensor_type=quantisation, window=64)
    rows: dict[int | None, list[bytes]] = {}
    with running(files, context=1024) as runner:
        for draft in (0, None):
            found = rows.setdefault(draft, [])
            runner.pair.decoder.observer = lambda _, row, found=found: found.append(row.tobytes())
            [reply] = runner.run(ask(draft=draft, exact=True, max_tokens=400, ignore_end=True))
            assert reply.end.exact
    assert len(rows[0]) >= 400
    assert sum(one != other for one, other in zip(rows[0], rows[None], strict=True)) == 0


@pytest.mark.parametrize("longest", [USUAL_LOOKUP, LOOKUP_MAX])
def test_what_the_text_said_before_is_drafted_at_length(
    ggufs: Path, monkeypatch: pytest.MonkeyPatch, longest: int
) -> None:
    files = build_shallow("dense", ROUND, ggufs, drafter=Drafter(wrong_every=2))
    with running(files, context=512, lookup_max=longest) as runner:
        [plain] = runner.run(ask(draft=0, max_tokens=240))
        teach(runner.pair.decoder.pace, CHEAP, monkeypatch)
        [auto] = runner.run(ask(draft=None, max_tokens=240))
        assert auto.tokens == plain.tokens
        pace = adds_up(auto)
        found = {source.name: source for source in auto.end.tally.sources}
        assert found["lookup"].accepted > 100
        assert len(pace.lengths) - 1 == longest
        assert auto.end.tally.passes < plain.end.tally.passes / 3


@pytest.mark.parametrize(("lookup_max", "names"), [(15, {"lookup"}), (0, set())])
def test_without_a_drafter_the_text_itself_remains(
    ggufs: Path,
    monkeypatch: pytest.MonkeyPatch,
    lookup_max: int,
    names: set[str],
) -> None:
    files = build_shallow("dense", ROUND, ggufs)
    with running(files, with_drafter=False, lookup_max=lookup_max) as runner:
        [plain] = runner.run(ask(draft=0, max_tokens=200))
        teach(runner.pair.decoder.pace, CHEAP, monkeypatch)
        [auto] = runner.run(ask(draft=None, max_tokens=200))
        assert auto.tokens == plain.tokens
        assert {source.name for source in auto.end.tally.sources} == names
        assert (auto.end.tally.drafted > 0) == bool(names)
        adds_up(auto)


@pytest.mark.parametrize(("seconds", "could_pay"), [(DEAR, True), (TOO_DEAR, False)])
def test_a_drafter_is_parked_where_rows_are_dear(
    ggufs: Path, monkeypatch: pytest.MonkeyPatch, seconds: dict[int, float], could_pay: bool
) -> None:
    files = build_shallow("dense", STORY, ggufs, drafter=Drafter(wrong_every=1))
    with running(files) as runner:
        teach(runner.pair.decoder.pace, seconds, monkeypatch)
        [auto] = runner.run(ask(draft=None))
        pace = adds_up(auto)
        assert auto.text == STORY.text
        assert pace.parked > 0.9 * auto.end.tally.passes
        assert pace.parked_now and "would be kept" in pace.reason
        assert pace.plain_speed == pytest.approx(1.0, rel=0.05)
        # It is looked at all the same, where that could change anything.
        looked = sum(tokens for *_, tokens in pace.calibration)
        assert looked > 3 if could_pay else looked == 0


def test_several_sequences_at_their_own_pace_say_what_each_says_alone(ggufs: Path) -> None:
    files = build_shallow("moe", STORY, ggufs, drafter=Drafter(wrong_every=4))
    lengths = (None, 2, None, 0)

    def requests() -> list:  # type: ignore[type-arg]
        return [
            ask(f"r{n}", draft=draft, sampling=Sampling(seed=n), max_tokens=60 + 5 * n)
            for n, draft in enumerate(lengths)
        ]

    with running(files) as runner:
        alone = [runner.run(request)[0].tokens for request in requests()]
    with running(files, sequences=4) as runner:
        replies = runner.run(*requests())
        assert [reply.tokens for reply in replies] == alone
        for reply, draft in zip(replies, lengths, strict=True):
            if draft is None:
                adds_up(reply)
            else:
                assert reply.end.tally.pace is None


def test_what_was_learned_is_there_when_the_pair_is_loaded_again(
    ggufs: Path, tmp_path: Path
) -> None:
    files = build_shallow("dense", STORY, ggufs, drafter=Drafter(wrong_every=3))
    kept = tmp_path / "pace.json"
    with running(files, pace_file=str(kept)) as runner:
        for length in (0, 3):
            runner.run(ask(draft=length))
    assert kept.exists()
    with running(files, pace_file=str(kept)) as runner:
        pace = runner.pair.decoder.pace
        assert {1, 4} <= set(pace.costs.table(1, 0).known)
        assert sum(pace.rates.counts) > 20
    with running(files, pace_file=str(kept), kv_type="q8_0") as runner:
        assert runner.pair.decoder.pace.costs.table(1, 0).known == []


@pytest.mark.parametrize(("seconds", "is_exact"), [(CHEAP, True), (DEAR, False)])
def test_an_open_request_is_exact_where_a_block_takes_no_longer_than_a_row(
    ggufs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    seconds: dict[int, float],
    is_exact: bool,
) -> None:
    files = build_shallow("dense", STORY, ggufs, drafter=Drafter(wrong_every=3))
    load = {"pace_file": str(tmp_path / "pace.json"), "threads": 1}
    with monkeypatch.context() as patch, running(files, **load) as runner:
        runner.run(ask(draft=0, max_tokens=2))
        pace = runner.pair.decoder.pace
        pace.costs.restore({"1 0": [[rows, each, 6] for rows, each in seconds.items()]})
        patch.setattr(CostTable, "observe", lambda *_: None)
    with running(files, **load) as runner:
        [reply] = runner.run(ask(draft=None, exact=None, max_tokens=5))
        assert reply.end.exact is is_exact


def test_what_cannot_be_forgotten_is_never_drafted(
    ggufs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gemma_local.engine.runtime.context import Context

    files = build_shallow("dense", ROUND, ggufs)
    # As the memory of a recurrent model answers.
    with monkeypatch.context() as patch:
        patch.setattr(Context, "truncate", lambda _self, _sequence, length: length == 0)
        with running(files, with_drafter=False) as runner:
            assert runner.pair.choose(None, None)[0] == 0


class Told:
    """A guide that begins a draft, and hears what is stated."""

    wants_confidence = True

    def __init__(self, begun: list[int]) -> None:
        self.stated: list[float] = []
        self._begun = begun

    def begun(self, index: int) -> list[int]:
        return self._begun

    def goes_on(self, index: int, confidence: float) -> bool:
        self.stated.append(confidence)
        return len(self.stated) < 3


def test_the_drafter_goes_on_behind_what_was_begun(ggufs: Path) -> None:
    files = build_shallow("dense", STORY, ggufs)
    told: list[tuple[Told, list[int], list[int]]] = []
    with running(files) as runner:
        decoder = runner.pair.decoder
        drafter = decoder.drafter
        assert isinstance(drafter, MtpDrafter)
        propose = drafter.propose

        def listen(sequences: list[Sequence], lengths: list[int], guide: object) -> object:
            if not told:
                next_ids = [files.vocabulary.id(f" word{i}") for i in range(6)]
                guide = Told(next_ids[:2])
                told.append((guide, propose(sequences, [5], guide)[0], next_ids))
            return [[] for _ in sequences]

        drafter.propose = listen  # type: ignore[method-assign,assignment]
        runner.run(ask(draft=0, max_tokens=2))
    [(guide, draft, next_ids)] = told
    # The first token is "Once"; two words were begun, and three are asked for.
    assert draft == next_ids[2:5]
    assert len(guide.stated) == 3
    assert all(0.5 < stated <= 1.0 for stated in guide.stated)


@pytest.mark.parametrize("size", [100, 128, 300, 262_144])
def test_the_stated_probability_is_about_that_of_the_softmax(size: int) -> None:
    draw = np.random.default_rng(size)
    for scale in (1.0, 4.0, 8.0):
        row = (draw.standard_normal(size) * scale).astype(np.float32)
        row[draw.integers(size)] += 4 * scale
        true = float(np.exp(row.max()) / np.exp(row.astype(float)).sum())
        stated = confidence(row)
        # Left out are tokens that hardly count.
        assert true - 1e-5 <= stated <= 1.0
        if true > 0.5:
            assert stated == pytest.approx(true, abs=0.12)

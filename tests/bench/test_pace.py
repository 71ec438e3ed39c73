"""The bench of draft lengths measures what it says: on a pair so small that nothing takes time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gemma_local.engine.messages import Load
from gemma_local.models.prompt import Text
from gemma_local.models.target import inspect_target
from tests.bench.pace import constructed, parallel, rewriting
from tests.bench.pace.coins import SWITCHING, toss
from tests.bench.pace.dictated import random_text
from tests.bench.pace.rewritten import changed, file
from tests.bench.pace.rig import Rig, loaded
from tests.ggufs import Pair, build, script


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    said = script(["Once", " upon", " a", " time", "."], loop_to=0)
    return build("dense", said, tmp_path_factory.mktemp("pair"))


@pytest.fixture(scope="module")
def rig(pair: Pair) -> Iterator[Rig]:
    load = Load(str(pair.target), str(pair.drafter), context=512, threads=1)
    with loaded(load, exact=False) as rig:
        yield rig


@pytest.mark.parametrize("draft", [0, 1, 3, 8])
@pytest.mark.parametrize("acceptance", [(1.0,), (0.7,), (0.0,), SWITCHING])
def test_passes_are_as_many_as_the_coins_say(
    rig: Rig, acceptance: tuple[float, ...], draft: int
) -> None:
    coins = toss(acceptance, 40 // len(acceptance), seed=5)
    words = random_text(rig.vocabulary, 8 + len(coins.right), seed=1)
    run = rig.dictate(words[:8], words[8:], coins, draft)
    assert list(run.said) == words[8:]
    assert run.tally.passes == coins.passes(draft)
    assert len(run.own) == len(run.said)
    # What the model would have said itself is another text.
    assert run.own != run.said


def test_a_run_can_be_cut_off_after_some_passes(rig: Rig) -> None:
    coins = toss((0.5,), 40, seed=2)
    words = random_text(rig.vocabulary, 48, seed=2)
    run = rig.dictate(words[:8], words[8:], coins, 3, passes=4)
    assert run.tally.passes == 4
    assert list(run.said) == words[8 : 8 + len(run.said)]


def test_afterwards_the_model_speaks_for_itself(rig: Rig, pair: Pair) -> None:
    coins = toss((0.5,), 20, seed=3)
    words = random_text(rig.vocabulary, 28, seed=3)
    rig.dictate(words[:8], words[8:], coins, 3)
    plain, drafted = (rig.answer(words[:8], 12, draft) for draft in (0, 3))
    said = b"".join(map(rig.vocabulary.piece, plain.said)).decode()
    assert said.startswith("Once upon a time.")
    assert drafted.said == plain.said
    assert drafted.tally.acceptance == 1.0


@pytest.mark.parametrize("informs", [True, False])
def test_coins_fall_as_often_as_they_should_and_what_is_stated_tells_it_or_not(
    *, informs: bool
) -> None:
    coins = toss((0.8,), 4000, seed=1, informs=informs)
    assert sum(coins.right) / 4000 == pytest.approx(0.8, abs=0.02)
    both = list(zip(coins.right, coins.stated, strict=True))
    sure = [right for right, stated in both if stated > 0.9]
    doubtful = [right for right, stated in both if stated < 0.5]
    difference = sum(sure) / len(sure) - sum(doubtful) / len(doubtful)
    assert difference > 0.4 if informs else abs(difference) < 0.05


def test_every_round_is_measured_for_every_length(rig: Rig) -> None:
    plan = constructed.Plan(
        ((0.9,), SWITCHING), lengths=(1, 3), tokens=24, part=8, rounds=2, passes=2
    )
    texts = constructed.measure(rig, plan)
    assert [text.name for text in texts] == ["0.9", "switching"]
    for text in texts:
        assert text.said_all
        assert not text.differing
        assert text.best in (0, 1, 3)
        assert len(text.row()) == len(constructed.header(plan.lengths))
        assert all(len(text.ratios(length)) == 2 for length in (0, 1, 3))
        assert len(list(text.budgets())) == 3


def test_a_file_with_three_changes_is_rewritten(rig: Rig, pair: Pair) -> None:
    lines = file(8)
    assert len(lines) == 8
    after = changed(lines)
    assert len(after) == 8 + 1
    assert len([line for line in lines if line not in after]) == 2
    facts = inspect_target(pair.target)
    found = rewriting.dictated(rig, facts, lines=3, rounds=1, passes=2)
    assert found.equal == [True]
    assert len(list(found.budgets())) == 4


def test_sequences_say_together_what_they_say_alone(pair: Pair, tmp_path: Path) -> None:
    load = Load(str(pair.target), str(pair.drafter), context=256, threads=1)
    prompts = [(Text(f"say it {number}"),) for number in range(3)]
    one, two = parallel.measure(
        load, prompts, tmp_path / "log", counts=(1, 2), tokens=9, rounds=1, exact=True
    )
    assert one.equal == two.equal == [True] * 6
    assert [len(two.speeds[arm]) for arm in (0, None)] == [1, 1]
    assert len(two.row(one)) == len(parallel.HEADER)
    assert [budget.verdict for budget in two.budgets()] == ["kept"]

"""The pair that the package carries: what it is, and that it has learned something."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gemma_local.engine.client import Engine
from gemma_local.engine.messages import Load
from gemma_local.models import pocket
from gemma_local.models.drafter import inspect_drafter
from gemma_local.models.pair import find_drafter
from gemma_local.models.pocket.train.held_out import held_out
from gemma_local.models.pocket.train.judge import judged, read_reply
from gemma_local.models.pocket.train.tokenizer import Tokenizer
from gemma_local.models.target import inspect_target
from tests.bench.pocket import FREE, GREEDY, Score, answer, both

if pocket.pair() is None:
    pytest.skip("this build carries no pocket pair", allow_module_level=True)

MOST_BYTES = 12_000_000


@pytest.fixture(scope="module")
def files() -> tuple[Path, Path]:
    found = pocket.pair()
    assert found is not None
    return found


@pytest.fixture(scope="module")
def engine(files: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine(tmp_path_factory.mktemp("pocket") / "log") as engine:
        engine.start(Load(str(files[0]), str(files[1]), context=2048, threads=1, draft_max=3))
        yield engine


def test_the_files_say_what_they_are(files: tuple[Path, Path]) -> None:
    target, drafter = inspect_target(files[0]), inspect_drafter(files[1])
    assert target.is_gemma4
    assert pocket.is_pocket(target.name)
    assert not pocket.is_pocket(drafter.name)
    assert not target.size_label
    assert 3_000_000 <= target.parameter_count <= 8_000_000
    assert target.chat_template
    found = find_drafter(target)
    assert found is not None
    assert found.path == files[1]


def test_the_files_are_small_and_come_with_card_and_licence(files: tuple[Path, Path]) -> None:
    assert sum(path.stat().st_size for path in files) <= MOST_BYTES
    folder = files[0].parent
    card = (folder / "CARD.md").read_text("utf-8")
    assert "not Google's Gemma 4" in card
    assert "Apache License" in (folder / "LICENSE.txt").read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "count", "least"),
    [
        ("guide", 12, 10),
        ("python", 10, 9),
        ("off_ground", 8, 7),
        ("tools", 6, 5),
        ("later_tools", 6, 5),
    ],
)
def test_held_out_questions_are_answered_and_drafting_changes_nothing(
    engine: Engine, files: tuple[Path, Path], name: str, count: int, least: int
) -> None:
    """A few of each; ``python -m tests.bench.pocket`` asks all."""
    tokenizer = Tokenizer.of_file(files[0])
    found, right = Score(), 0
    for sample in held_out(name, count):
        plain, drafted = both(engine, sample, GREEDY, draft=3)
        assert drafted.tokens == plain.tokens, sample.asked[-1].text
        assert plain.reason == "stop"
        found.count(drafted.tally)
        right += judged(sample, read_reply(sample, plain.tokens, tokenizer)).right
    assert right >= least
    assert found.acceptance > 0.5
    assert found.tokens_per_pass > 2.3


def test_a_seed_gives_the_same_text_with_drafts(engine: Engine) -> None:
    for sample in held_out("guide", 3):
        plain, drafted = both(engine, sample, FREE, draft=3)
        assert drafted.tokens == plain.tokens
        assert answer(engine, sample, FREE, draft=2).tokens == plain.tokens

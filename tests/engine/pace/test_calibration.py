"""What the drafter states, and what becomes of it."""

from __future__ import annotations

import random

import pytest

from gemma_local.engine.pace.calibration import Calibration, Recent
from gemma_local.engine.pace.chances import expit


def taught(kept: dict[float, float], tokens: int, seed: int = 3) -> Calibration:
    """``kept`` has the share kept by stated probability."""
    calibration, draw = Calibration(), random.Random(seed)
    mean = sum(kept.values()) / len(kept)
    for _ in range(tokens):
        stated = draw.choice(list(kept))
        is_kept = draw.random() < kept[stated]
        place = calibration.place(stated)
        by_confidence = expit(calibration.rates.logits()[place])
        calibration.learn(stated, is_kept, by_confidence, by_place=mean)
    return calibration


def test_a_drafter_that_is_too_sure_of_itself_is_found_out() -> None:
    calibration = taught({0.9: 0.4, 0.6: 0.1}, 400)
    rates = calibration.rates.logits()
    assert expit(rates[calibration.place(0.9)]) == pytest.approx(0.4, abs=0.08)
    assert expit(rates[calibration.place(0.6)]) == pytest.approx(0.1, abs=0.08)


def test_the_table_says_what_was_stated_and_what_was_kept() -> None:
    rows = taught({0.9: 1.0, 0.2: 0.0}, 100).rows()
    assert [(round(stated, 3), kept) for stated, kept, _ in rows] == [(0.2, 0.0), (0.9, 1.0)]
    assert sum(tokens for *_, tokens in rows) == 100
    assert Calibration().rows() == ()


def test_confidence_is_only_asked_for_where_it_tells_something() -> None:
    telling, idle = taught({0.98: 0.95, 0.2: 0.1}, 400), taught({0.98: 0.6, 0.2: 0.6}, 400)
    assert telling.is_useful and not idle.is_useful
    assert all(telling.wanted() for _ in range(50))
    # Now and then all the same: another text may be different.
    assert 0 < sum(idle.wanted() for _ in range(80)) <= 10
    # Before anything is known it is asked for.
    assert Calibration().wanted()


def test_it_can_be_kept() -> None:
    calibration = taught({0.98: 0.95, 0.2: 0.1}, 400)
    again = Calibration()
    again.restore(calibration.as_plain())
    assert again.is_useful
    with pytest.raises((ValueError, TypeError, KeyError)):
        Calibration().restore({"rates": [], "gain": "nan", "seen": 1})


def test_how_often_the_drafter_is_sure_depends_on_the_text() -> None:
    calibration = taught({0.98: 0.95, 0.2: 0.1}, 400)
    sure, text = calibration.place(0.98), Recent()
    usual = calibration.shares(text)
    assert usual[sure] == pytest.approx(0.5, abs=0.1)
    for _ in range(40):
        text.add(0.2)
    assert calibration.shares(text)[sure] < 0.1
    for _ in range(12):
        text.add(0.98)
    assert calibration.shares(text)[sure] > 0.3
    assert sum(calibration.shares(text)) == pytest.approx(1.0)

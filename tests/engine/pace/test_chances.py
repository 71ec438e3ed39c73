"""How likely a drafted token is to be kept: by its place, and by how the text goes."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.engine.pace.chances import Rates, Trend, expit, logit


def run(trend: Trend, share: float, tokens: int, seed: int, expected: float = 0.7) -> None:
    draw = random.Random(seed)
    for _ in range(tokens):
        trend.learn(expected, draw.random() < share)


def chance(trend: Trend, expected: float = 0.7) -> float:
    return expit(logit(expected) + trend.shift)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.8, 0.95])
def test_a_text_is_known_after_a_few_dozen_tokens(share: float) -> None:
    found = []
    for seed in range(20):
        trend = Trend()
        run(trend, share, 60, seed)
        found.append(chance(trend))
    assert sum(found) / len(found) == pytest.approx(share, abs=0.06)


@pytest.mark.parametrize(("before", "after"), [(0.95, 0.1), (0.1, 0.95), (0.8, 0.3), (0.3, 0.8)])
def test_another_kind_of_text_is_noticed_within_a_few_dozen_tokens(
    before: float, after: float
) -> None:
    found = []
    for seed in range(20):
        trend = Trend()
        run(trend, before, 300, seed)
        run(trend, after, 24, seed + 100)
        found.append(chance(trend))
    assert abs(sum(found) / len(found) - after) < 0.2


def test_the_same_text_rarely_seems_to_be_another_one() -> None:
    wrong = 0
    for seed in range(40):
        trend = Trend()
        run(trend, 0.85, 80, seed)
        draw = random.Random(seed + 500)
        for _ in range(100):
            trend.learn(0.7, draw.random() < 0.85)
            wrong += chance(trend) < 0.6
    assert wrong < 40 * 100 * 0.02


def test_a_trend_that_was_expected_is_none() -> None:
    trend = Trend()
    for n in range(200):
        trend.learn(0.5, n % 2 == 0)
    assert abs(trend.shift) < 0.2
    assert Trend().shift == 0.0


def test_old_evidence_fades_so_that_a_few_tokens_turn_it() -> None:
    fresh, old = Trend(), Trend()
    for trend in (fresh, old):
        for _ in range(100):
            trend.learn(0.7, False)
    for _ in range(200):
        old.fade()
    assert chance(old) < 0.35
    for trend in (fresh, old):
        for _ in range(3):
            trend.learn(0.7, True)
    assert chance(old) > 0.4 > chance(fresh)


@given(st.lists(st.tuples(st.integers(0, 7), st.booleans()), max_size=200))
def test_rates_stay_chances(tokens: list[tuple[int, bool]]) -> None:
    rates = Rates([0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.99])
    for place, kept in tokens:
        rates.learn(place, kept)
    assert all(0.0 < expit(value) < 1.0 for value in rates.logits())


def test_places_of_which_little_is_known_go_along_with_the_others() -> None:
    rates = Rates([0.7] * 4)
    for n in range(100):
        rates.learn(0, n % 10 == 0)
    known, unknown = expit(rates.logits()[0]), expit(rates.logits()[3])
    assert known == pytest.approx(0.1, abs=0.07)
    assert unknown < 0.3


def test_rates_can_be_kept() -> None:
    rates = Rates([0.5, 0.5])
    for n in range(60):
        rates.learn(0, n % 4 != 0)
    again = Rates([0.5, 0.5])
    again.restore(rates.as_plain())
    assert expit(again.logits()[0]) == pytest.approx(expit(rates.logits()[0]), abs=0.02)
    for damaged in ([[5, 2]], [[-1, 2]], [["a", 2]], [[1]], [[1, float("inf")]]):
        with pytest.raises((ValueError, TypeError)):
            Rates([0.5, 0.5]).restore(damaged)  # type: ignore[arg-type]


@given(st.integers(1, 70), st.booleans(), st.lists(st.booleans(), max_size=30))
def test_many_tokens_at_once_are_as_many_one_by_one(
    times: int, kept: bool, before: list[bool]
) -> None:
    at_once, singly = Trend(), Trend()
    for token in before:
        at_once.learn(0.6, token)
        singly.learn(0.6, token)
    # Unless the text seems to become another one on the way.
    at_once._has_turned = singly._has_turned = lambda: False  # type: ignore[method-assign]
    at_once.learn(0.6, kept, times)
    for _ in range(times):
        singly.learn(0.6, kept)
    assert at_once.shift == pytest.approx(singly.shift, abs=1e-9)
    assert at_once._fast_squares == pytest.approx(singly._fast_squares)

    rates = [Rates([0.5, 0.7]) for _ in range(2)]
    rates[0].learn(1, kept, times)
    for _ in range(times):
        rates[1].learn(1, kept)
    assert rates[0].counts == rates[1].counts
    assert rates[0].as_plain() == rates[1].as_plain()

"""The sampler against plain, slow definitions of the same filters."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemma_local.engine.messages import Sampling
from gemma_local.engine.sampler import NotANumber, Sampler, uniform


def reference(row: np.ndarray, sampling: Sampling, index: int) -> int:
    """Sort everything, filter in llama.cpp's order, invert the cumulated probabilities."""
    order = np.lexsort((np.arange(row.size), -row))
    if 0 < sampling.top_k < row.size:
        order = order[: sampling.top_k]
    weights = np.exp(row[order].astype(float) - float(row[order[0]]))
    if sampling.top_p < 1.0:
        mass = np.cumsum(weights)
        order = order[: 1 + np.flatnonzero(mass >= sampling.top_p * mass[-1])[0]]
    if sampling.min_p > 0.0:
        floor = float(row[order[0]]) + math.log(sampling.min_p)
        order = order[(row[order] >= floor) | (np.arange(order.size) == 0)]
    if sampling.top_p == 1.0 and sampling.min_p == 0.0 and not 0 < sampling.top_k < row.size:
        order = np.sort(order)
    scaled = np.exp((row[order].astype(float) - float(row[order].max())) / sampling.temperature)
    cumulative = np.cumsum(scaled)
    at = int(
        np.searchsorted(cumulative, uniform(sampling.seed or 0, index) * cumulative[-1], "right")
    )
    return int(order[min(at, order.size - 1)])


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    size=st.sampled_from([5, 300, 1000, 40_000]),
    spread=st.sampled_from([0.1, 3.0, 12.0]),
    top_k=st.sampled_from([0, 1, 5, 64, 10**6]),
    top_p=st.sampled_from([1.0, 0.95, 0.5, 0.01]),
    min_p=st.sampled_from([0.0, 0.05, 0.9]),
    temperature=st.sampled_from([0.2, 1.0, 1.7]),
)
def test_chooses_what_the_plain_definition_chooses(
    seed: int, size: int, spread: float, top_k: int, top_p: float, min_p: float, temperature: float
) -> None:
    row = np.random.default_rng(seed).normal(0, spread, size).astype(np.float32)
    sampling = Sampling(temperature, top_k, top_p, min_p, seed=seed)
    sampler = Sampler(sampling)
    for index in range(5):
        assert sampler.choose(row.copy(), index) == reference(row, sampling, index)


def test_draws_follow_the_probabilities() -> None:
    row = np.log(np.array([0.5, 0.3, 0.2], np.float32))
    sampler = Sampler(Sampling(top_k=0, top_p=1.0, seed=4))
    counts = Counter(sampler.choose(row.copy(), i) for i in range(20_000))
    for token, share in enumerate((0.5, 0.3, 0.2)):
        assert abs(counts[token] / 20_000 - share) < 0.015


def test_a_draw_depends_on_seed_and_index_only() -> None:
    row = np.zeros(50, np.float32)
    first, second = Sampler(Sampling(seed=1)), Sampler(Sampling(seed=1))
    for _ in range(3):
        second.choose(row.copy(), 40)
    assert [first.choose(row.copy(), i) for i in range(20)] == [
        second.choose(row.copy(), i) for i in range(20)
    ]
    other = Sampler(Sampling(seed=2))
    assert [first.choose(row.copy(), i) for i in range(20)] != [
        other.choose(row.copy(), i) for i in range(20)
    ]


def test_without_a_seed_each_sampler_draws_its_own() -> None:
    assert Sampler(Sampling()).seed != Sampler(Sampling()).seed


def test_greedy_takes_the_first_of_equals() -> None:
    row = np.array([1.0, 4.0, 4.0], np.float32)
    assert Sampler(Sampling(temperature=0.0)).choose(row, 0) == 1


def test_bias_and_banned_tokens() -> None:
    row = np.array([1.0, 2.0, 3.0], np.float32)
    greedy = Sampling(temperature=0.0, logit_bias={0: 10.0})
    assert Sampler(greedy).choose(row.copy(), 0) == 0
    assert Sampler(greedy, banned=np.array([0])).choose(row.copy(), 0) == 2


def test_penalties_as_llama_cpp_defines_them() -> None:
    sampling = Sampling(
        temperature=0.0, repeat_penalty=2.0, frequency_penalty=0.25, presence_penalty=0.5
    )
    sampler = Sampler(sampling, prompt=[0, 0, 1])
    row = np.array([8.0, -1.0, 2.9], np.float32)
    sampler.choose(row, 0)
    # 8 / 2 - 2 * 0.25 - 0.5; a negative logit is multiplied: -1 * 2 - 0.25 - 0.5
    assert row.tolist() == pytest.approx([3.0, -2.75, 2.9])


def test_the_penalty_window_slides() -> None:
    sampling = Sampling(temperature=0.0, presence_penalty=5.0, penalty_window=2)
    sampler = Sampler(sampling, prompt=[0])
    for token in (1, 2):
        sampler.accept(token)
    assert sampler.choose(np.array([4.0, 3.0, 3.0], np.float32), 2) == 0


class OnlyAfter:
    """A toy grammar: a token may only be followed by the next larger one."""

    def __init__(self) -> None:
        self.last = 0

    def allows(self, token: int) -> bool:
        return token == self.last + 1

    def restrict(self, row: np.ndarray) -> None:
        allowed = row[self.last + 1]
        row[:] = -np.inf
        row[self.last + 1] = allowed

    def accept(self, token: int) -> None:
        self.last = token


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_constraint_decides_what_may_come_next(temperature: float) -> None:
    sampler = Sampler(Sampling(temperature=temperature, seed=1), constraint=OnlyAfter())
    said = []
    for index in range(5):
        said.append(sampler.choose(np.arange(20, 0, -1).astype(np.float32), index))
        sampler.accept(said[-1])
    assert said == [1, 2, 3, 4, 5]


class OnlyEven:
    """Even tokens only; counts how often it is asked to work on a whole row."""

    def __init__(self) -> None:
        self.rows = 0

    def allows(self, token: int) -> bool:
        return token % 2 == 0

    def restrict(self, row: np.ndarray) -> None:
        self.rows += 1
        row[1::2] = -np.inf

    def accept(self, token: int) -> None:
        assert self.allows(token)


def test_a_constraint_keeps_the_proportions_of_what_may_come() -> None:
    row = np.log(np.array([0.1, 0.5, 0.3, 0.1], np.float32))
    constraint = OnlyEven()
    sampler = Sampler(Sampling(top_k=0, top_p=1.0, seed=4), constraint=constraint)
    draws = 20_000
    counts = Counter(sampler.choose(row.copy(), i) for i in range(draws))
    assert counts.keys() == {0, 2}
    assert abs(counts[0] / draws - 0.25) < 0.015
    # Whole rows only where the free choice may not come.
    assert abs(constraint.rows / draws - 0.6) < 0.015


def test_under_a_constraint_a_draw_depends_on_seed_and_index_only() -> None:
    row = np.zeros(50, np.float32)
    first, second = (Sampler(Sampling(seed=1), constraint=OnlyEven()) for _ in range(2))
    for _ in range(3):
        second.choose(row.copy(), 40)
    assert [first.choose(row.copy(), i) for i in range(20)] == [
        second.choose(row.copy(), i) for i in range(20)
    ]


def test_lenience_does_not_get_around_a_constraint() -> None:
    row = np.log(np.array([0.3, 0.4, 0.3], np.float32))
    sampler = Sampler(Sampling(lenience=0.9), constraint=OnlyEven())
    assert sampler.tolerates(row, 0) and not sampler.tolerates(row, 1)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_a_number_is_noticed(temperature: float, bad: float) -> None:
    row = np.zeros(1000, np.float32)
    row[700] = bad
    with pytest.raises(NotANumber):
        Sampler(Sampling(temperature=temperature, seed=1)).choose(row, 0)


def test_lenience_is_a_share_of_the_best_probability() -> None:
    row = np.log(np.array([0.6, 0.4 * 0.8, 0.08], np.float32))
    assert not Sampler(Sampling()).tolerates(row, 1)
    lenient = Sampler(Sampling(lenience=0.5))
    assert lenient.tolerates(row, 1) and not lenient.tolerates(row, 2)


def test_uniform_is_spread_over_the_unit_interval() -> None:
    draws = np.array([uniform(99, i) for i in range(50_000)])
    assert draws.min() >= 0.0 and draws.max() < 1.0
    histogram, _ = np.histogram(draws, bins=20, range=(0, 1))
    assert abs(histogram - 2500).max() < 250
    assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 0.02

"""The weights of scripted pairs: the linear algebra that llama.cpp will carry out."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ggufs.acceptance import Drafter
from tests.ggufs.architecture import shape_of
from tests.ggufs.chain import FLOOR, OTHER, Chain, drafter_chain, target_chain
from tests.ggufs.quantise import Matrix
from tests.ggufs.script import NAN, Script, script
from tests.ggufs.scripted import (
    LOOK_BACK,
    aligned,
    context_index,
    drafter_weights,
    space,
    target_weights,
)
from tests.ggufs.vocabulary import vocabulary

QUOTED = script(["a:", '"', "x", '"', ",b:", '"', {"y": 0.7, "z": 0.3}, '"'])
PLAIN = script(["Hello", " there", "."])


def norm(rows: Matrix) -> Matrix:
    return np.asarray(rows / np.sqrt((rows**2).mean(axis=-1, keepdims=True)))


def every_pair(chain: Chain) -> list[tuple[str, str]]:
    return [(before, token) for before in chain.states for token in chain.states]


@pytest.mark.parametrize("said", [PLAIN, QUOTED])
@pytest.mark.parametrize("width", [64, 96])
def test_the_head_gives_each_state_its_logits(said: Script, width: int) -> None:
    chain, words = target_chain(said), vocabulary(sorted(said.names))
    shape = shape_of("dense", width=width, drafter_width=128)
    form, head = space(chain, width), target_weights(chain, shape, words)["output.weight"]
    remembered = context_index(chain)
    for before, token in every_pair(chain):
        state = form.constant + form.states[chain.states.index(token)]
        if chain.contexts:
            state = state + form.contexts[remembered[chain.states.index(before)]]
        logits = head @ state / form.rms
        wanted = np.full(len(words), FLOOR)
        for name, level in chain.logits(before, token).items():
            wanted[words.id(name)] = level
        assert np.abs(logits - wanted).max() < 0.01


def test_layer_0_adds_the_code_of_the_token_before() -> None:
    chain, words = target_chain(QUOTED), vocabulary(sorted(QUOTED.names))
    shape = shape_of("dense", width=64, drafter_width=128)
    weights, form = target_weights(chain, shape, words), space(chain, 64)
    tokens = [words.id(name) for name in ("<bos>", "a:", '"', "x")]
    normed = norm(weights["token_embd.weight"][tokens])
    value = norm((normed @ weights["blk.0.attn_v.weight"].T)[:, : shape.head_dim_sliding])
    output = value @ weights["blk.0.attn_output.weight"][:, : shape.head_dim_sliding].T
    places = [chain.states.index(name) for name in (OTHER, "a:", '"', "x")]
    assert np.allclose(output, form.contexts[[context_index(chain)[place] for place in places]])


def test_layer_0_looks_exactly_one_position_back() -> None:
    size, window = 32, 64
    query, key, gap = aligned(size, window)
    unit = np.sqrt(LOOK_BACK / gap)
    speed = 10_000.0 ** (-2 * np.arange(size // 2) / size)

    def turned(vector: Matrix, position: int) -> Matrix:
        first, second = norm(vector[None])[0].reshape(2, -1) * unit
        cos, sin = np.cos(position * speed), np.sin(position * speed)
        return np.concatenate([first * cos - second * sin, first * sin + second * cos])

    scores = np.array([turned(query, 200) @ turned(key, 200 - back) for back in range(window)])
    assert scores.argmax() == 1
    assert scores[1] - np.delete(scores, 1).max() > LOOK_BACK - 0.01


@pytest.mark.parametrize("said", [PLAIN, QUOTED])
def test_the_drafter_follows_its_chain_on_its_own_h(said: Script) -> None:
    target = target_chain(said)
    chain = drafter_chain(said, Drafter(wrong_every=3).wrong(said))
    words = vocabulary(sorted(said.names))
    shape = shape_of("dense", width=64, drafter_width=128)
    theirs = target_weights(target, shape, words)["token_embd.weight"]
    weights = drafter_weights(chain, target, shape, words)
    # What the target hands over: its normed state for the token before.
    form = space(target, 64)
    before, token = "<bos>", said.tokens[0]
    h = (form.constant + form.states[0]) / form.rms
    for _ in range(12):
        both = np.concatenate([theirs[words.id(token)] * np.sqrt(64), h])
        state = norm(weights["nextn.pre_projection.weight"] @ both)
        best = int((weights["token_embd.weight"] @ state).argmax())
        assert best == words.id(chain.greedy(before, token))
        h = weights["nextn.post_projection.weight"] @ state
        before, token = token, chain.greedy(before, token)


def test_nan_is_in_one_embedding_only() -> None:
    broken = script(["fine", "here"], end=NAN)
    words = vocabulary(sorted(broken.names))
    shape = shape_of("dense", width=64, drafter_width=128)
    embedding = target_weights(target_chain(broken), shape, words)["token_embd.weight"]
    assert np.flatnonzero(np.isnan(embedding).any(axis=1)).tolist() == [words.id("here")]


def test_a_width_that_cannot_tell_tokens_apart_is_refused() -> None:
    long = script([f"w{index}" for index in range(70)])
    with pytest.raises(ValueError, match="too small"):
        space(target_chain(long), 64)

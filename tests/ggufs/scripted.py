"""A chain put into the weights of a target and a drafter: what the scripts say, through llama.cpp.

Post norms of zero make every layer add nothing, so the residual stream is the scaled embedding of
the last token. An embedding is 1 + code, the codes of tokens are orthogonal, and so the output
matrix can give each token its successors. Where one token has several successors, layer 0 is put to
work: its attention looks exactly one position back (a query and a key that the rotary embedding
lines up at distance 1) and adds a code of the token there. Such scripts come out wrong if the KV
cache is wrong.

Symbols: D width, S states (row 0: all other tokens), M contexts, V vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.ggufs.architecture import Shape
from tests.ggufs.chain import FLOOR, OTHER, Chain
from tests.ggufs.quantise import Matrix
from tests.ggufs.vocabulary import Vocabulary
from tests.ggufs.weights import codes, duals

# Score by which the token before wins over every other one in layer 0: e**-30 is left for those.
LOOK_BACK = 30.0
SMALLEST_WIDTH = 64


@dataclass(frozen=True)
class Space:
    """How one of the two models writes the chain: a constant, the token, the token before.

    A vector is (constant + state + context), each a +-1 code of the model's width; with no contexts
    the last part is absent. Its RMS is therefore always sqrt(2) or sqrt(3).
    """

    constant: Matrix  # [width]
    states: Matrix  # [S, width]
    contexts: Matrix  # [M, width]
    basis: Matrix  # [1 + S + M, width], duals of the three above

    @property
    def rms(self) -> float:
        return float(np.sqrt(3.0 if len(self.contexts) else 2.0))

    @property
    def of_constant(self) -> Matrix:
        return np.asarray(self.basis[0])

    @property
    def of_states(self) -> Matrix:
        return self.basis[1 : 1 + len(self.states)]


@dataclass(frozen=True)
class Rows:
    """A matrix with a row for each token, nearly all of them alike."""

    usual: Matrix  # [width]
    named: dict[str, Matrix]  # token -> [width]

    def table(self, vocabulary: Vocabulary) -> Matrix:
        """[V, width]"""
        table = np.tile(self.usual, (len(vocabulary), 1))
        for name, row in self.named.items():
            table[vocabulary.id(name)] = row
        return table


def space(chain: Chain, width: int) -> Space:
    """Codes for a chain in a model of this width."""
    states, contexts = len(chain.states), len(chain.contexts)
    if width < codes_needed(chain):
        raise ValueError(f"a width of {width} is too small: need {codes_needed(chain)} codes")
    table = codes(1 + states + contexts, width)
    return Space(table[0], table[1 : 1 + states], table[1 + states :], duals(table))


def codes_needed(chain: Chain) -> int:
    """How many orthogonal codes a model of the chain uses."""
    return 1 + len(chain.states) + len(chain.contexts)


def context_index(chain: Chain) -> list[int]:
    """[S] for each state, which context it is for the token after it."""
    places = {name: index for index, name in enumerate(chain.contexts)}
    return [places.get(name, 0) for name in chain.states]


def target_weights(chain: Chain, shape: Shape, vocabulary: Vocabulary) -> dict[str, Matrix]:
    """The tensors of a target that are not neutral."""
    special = {name: rows.table(vocabulary) for name, rows in target_rows(chain, shape).items()}
    if chain.contexts:
        special |= _look_back(chain, space(chain, shape.width), shape)
    return special


def drafter_weights(
    chain: Chain, target: Chain, shape: Shape, vocabulary: Vocabulary
) -> dict[str, Matrix]:
    """The tensors of a drafter that are not neutral."""
    head = head_rows(chain, space(chain, shape.drafter_width))
    return {"token_embd.weight": head.table(vocabulary), **bridges(chain, target, shape)}


def target_rows(chain: Chain, shape: Shape) -> dict[str, Rows]:
    """Input and output rows of the target's tokens."""
    form = space(chain, shape.width)
    embedding = {name: 1 + form.states[index] for index, name in enumerate(chain.states) if index}
    embedding |= {name: np.full(shape.width, np.nan, np.float32) for name in chain.nan}
    return {
        "token_embd.weight": Rows(1 + form.states[0], embedding),
        "output.weight": head_rows(chain, form),
    }


def head_rows(chain: Chain, form: Space) -> Rows:
    """Output rows that give every (token before, token) its logits."""
    wanted: dict[str, Matrix] = {}
    floor = np.zeros(len(form.basis), np.float32)
    floor[0] = FLOOR

    def add(successor: str, column: int, level: float) -> None:
        wanted.setdefault(successor, floor.copy())[column] = level

    for column, name in enumerate(chain.states, start=1):
        for successor, level in chain.last.get(name, chain.last[OTHER]).items():
            add(successor, column, level - FLOOR)
    for column, name in enumerate(chain.contexts, start=1 + len(form.states)):
        for successor, bonus in chain.memory.get(name, {}).items():
            add(successor, column, bonus)
    scaled = form.basis * form.rms
    return Rows(floor @ scaled, {name: levels @ scaled for name, levels in wanted.items()})


def bridges(chain: Chain, target: Chain, shape: Shape) -> dict[str, Matrix]:
    """The drafter's projections from and to the width of its target.

    Its input is (embedding of the last token, h of the token before); both are linear in the
    target's codes, so one matrix turns them into the drafter's own codes, and another one turns
    those into the next h.
    """
    theirs, own = space(target, shape.width), space(chain, shape.drafter_width)
    places = {name: index for index, name in enumerate(chain.states)}
    shared = [places.get(name, 0) for name in target.states]
    token = np.outer(own.constant, theirs.of_constant) + own.states[shared].T @ theirs.of_states
    # llama.cpp scales the target's embedding by sqrt(D); h comes out of the norm, at RMS 1.
    before = np.zeros_like(token)
    if chain.contexts:
        remembered = own.contexts[context_index(chain)][shared]
        before = theirs.rms * remembered.T @ theirs.of_states
    both = [index for index, own_index in enumerate(shared) if own_index or index == 0]
    back = theirs.states[both].T @ own.of_states[[shared[index] for index in both]]
    return {
        "nextn.pre_projection.weight": np.hstack([token / np.sqrt(shape.width), before]),
        "nextn.post_projection.weight": back * own.rms / theirs.rms,
    }


def _look_back(chain: Chain, form: Space, shape: Shape) -> dict[str, Matrix]:
    """Layer 0: attend to the position before and add the context code of the token there."""
    size, kv_heads = shape.head_dim_sliding, shape.kv_heads_sliding
    if len(chain.contexts) > size:
        raise ValueError(
            f"{len(chain.contexts)} tokens decide how the script goes on, and a sliding head holds "
            f"{size}: repeat fewer pieces, or set head_dim_sliding"
        )
    query, key, gap = aligned(size, shape.window)
    norm = np.full(size, np.sqrt(LOOK_BACK / gap), np.float32)
    # Behind attn_norm a token is (1 + code) / sqrt(2).
    constant = np.sqrt(2) * form.of_constant
    marks = codes(len(chain.contexts), size)
    value = np.sqrt(2) * marks[context_index(chain)].T @ form.of_states
    output = np.zeros((shape.width, shape.heads * size), np.float32)
    output[:, :size] = form.contexts.T @ duals(marks)
    return {
        "blk.0.attn_q.weight": np.tile(np.outer(query, constant), (shape.heads, 1)),
        "blk.0.attn_k.weight": np.tile(np.outer(key, constant), (kv_heads, 1)),
        "blk.0.attn_v.weight": np.tile(value, (kv_heads, 1)),
        "blk.0.attn_output.weight": output,
        "blk.0.attn_q_norm.weight": norm,
        "blk.0.attn_k_norm.weight": norm,
        # The residual stream is the embedding times sqrt(D).
        "blk.0.post_attention_norm.weight": np.full(shape.width, np.sqrt(shape.width), np.float32),
    }


def aligned(size: int, window: int) -> tuple[Matrix, Matrix, float]:
    """Query and key [size] whose product, after RoPE, is largest at distance 1, and by how much.

    RoPE turns the pair (i, i + size/2) by position * 10000**(-2i/size). Slow pairs cannot tell
    neighbours apart and only cost precision, so the faster half of them is used.
    """
    pairs = np.arange(size // 4)
    speed = 10_000.0 ** (-2 * pairs / size)
    query, key = np.zeros(size, np.float32), np.zeros(size, np.float32)
    key[pairs] = 1
    query[pairs], query[pairs + size // 2] = np.cos(speed), -np.sin(speed)
    distance = np.array([0, *range(2, window + 1)])
    # Each used pair has length sqrt(size / number of pairs) after the head norm.
    scores = np.cos(np.outer(distance - 1, speed)).sum(axis=1) * size / len(pairs)
    return query, key, float(size - scores.max())

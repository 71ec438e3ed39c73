"""Pairs with random weights and working layers: attention, the window and the KV cache all count.

What such a target says is not known in advance, so these are for comparing one way of decoding with
another. A random drafter is hardly ever right; ``pull`` gives both models one successor of each
token in common, which the target's layers then often overrule.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.ggufs.architecture import Role, Shape, Tensor
from tests.ggufs.quantise import Matrix
from tests.ggufs.vocabulary import CONTROL, USER_DEFINED, Vocabulary
from tests.ggufs.weights import noise


@dataclass(frozen=True)
class Random:
    """Settings of a random pair.

    ``pull`` is how far (in logits) the common successor is lifted in the target: the drafter, which
    always proposes it, is right in the first place about 40 % of the time at 12, 65 % at 16 and
    85 % at 20 (accepted / drafted at a draft length of 3: 20, 40, 70 %), and never at 0.
    ``spread`` is the standard deviation of the other logits. ``post_norm`` is what each block
    adds, against 1 for the token itself. ``ends`` lets the target say control tokens, end of turn
    among them.
    """

    seed: int = 0
    pull: float = 0.0
    spread: float = 4.0
    post_norm: float = 0.4
    ends: bool = False


def random_target(spec: Random, shape: Shape, vocabulary: Vocabulary) -> dict[str, Matrix]:
    """The tensors of a target that are not left to :func:`weights.filling`."""
    width, size = shape.width, len(vocabulary)
    embedding = _draw("token_embd.weight", (size, width), spec) / np.sqrt(width)
    head = _draw("output.weight", (size, width), spec) * spec.spread / np.sqrt(width)
    # The share of the token itself in the final state, whose RMS is 1.
    blocks = shape.layers * (3 if shape.per_layer else 2)
    share = 1 / np.sqrt(1 + blocks * spec.post_norm**2)
    tokens, successors = _circle(spec, vocabulary)
    head[successors] += embedding[tokens] * spec.pull / (np.sqrt(width) * share)
    if not spec.ends:
        # A row of zeros gives 0, far below the best of many random logits.
        head[[vocabulary.id(name) for name in (*CONTROL, *USER_DEFINED)]] = 0
    special = {"token_embd.weight": embedding, "output.weight": head}
    if shape.experts:
        # The router's input is divided by sqrt(width), which would leave all experts alike.
        scale = np.full(width, 2 * np.sqrt(width), np.float32)
        names = (f"blk.{layer}.ffn_gate_inp.scale" for layer in range(shape.layers))
        special |= dict.fromkeys(names, scale)
    return special


def random_drafter(spec: Random, shape: Shape, vocabulary: Vocabulary) -> dict[str, Matrix]:
    """The tensors of a drafter that knows the common successors and little else."""
    width, size = shape.drafter_width, len(vocabulary)
    head = _draw("drafter head", (size, width), spec) / np.sqrt(width)
    if not spec.pull:
        return {"token_embd.weight": head}
    target = random_target(spec, shape, vocabulary)["token_embd.weight"]
    project = _draw("project", (width, shape.width), spec) / np.sqrt(shape.width)
    echo = _draw("echo", (width, shape.width), spec) / np.sqrt(shape.width) / 5
    tokens, successors = _circle(spec, vocabulary)
    head *= 2
    head[successors] += target[tokens] @ project.T * 20 / np.sqrt(width)
    # llama.cpp multiplies the target's embedding by sqrt(D): both inputs then have an RMS of 1.
    pre = np.hstack([project, echo])
    return {"token_embd.weight": head, "nextn.pre_projection.weight": pre}


def _draw(name: str, shape: tuple[int, ...], spec: Random) -> Matrix:
    """Standard normal numbers, always the same for the same name and seed."""
    return noise(Tensor(name, shape, Role.MATRIX), spec.seed)


def _circle(spec: Random, vocabulary: Vocabulary) -> tuple[list[int], list[int]]:
    """Ordinary tokens in a random circle, and the successor of each: no short way round."""
    special = {vocabulary.id(name) for name in (*CONTROL, *USER_DEFINED)}
    ordinary = [token for token in range(len(vocabulary)) if token not in special]
    order = [int(token) for token in np.random.default_rng(spec.seed).permutation(ordinary)]
    return order, order[1:] + order[:1]

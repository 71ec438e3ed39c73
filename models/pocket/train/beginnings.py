"""Gives a target, before or early in its training, a head that looks one token back and one that
finds what came after the same token earlier.

Copying is what small models learn last and what calls of tools are made of. Both heads are only
weights of the usual layers: training goes on from there, and does with them what it likes. Heads of
the first layer are given the same key for every token, made of what all embeddings have in common,
and queries that are turned by one place, two and three; those of the second look for the token
that has been seen so.
"""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor

from gemma_local.models.pocket.train.architecture import Layer, Target

_ENERGY: Final = (0.4, 0.3, 0.2, 0.1)
"""How strongly the fastest rotations count: alone they would take places far back for near ones."""
_SHARPER: Final = 1.4
_IN_COMMON: Final = 0.5


@torch.no_grad()
def begin_with_copying(target: Target, seed: int = 5) -> None:
    """Change the first heads of the first two layers; the rest stays as it is."""
    generator = torch.Generator().manual_seed(seed)
    shape = target.shape
    table = target.token_embd.weight
    # What all embeddings have in common: a direction that tells tokens least is given to all of
    # them. The logits do not mind, since it adds the same to each.
    common = torch.linalg.svd(table, full_matrices=False).Vh[-1]
    common = common * torch.sign((table @ common).mean())
    table += _IN_COMMON * table.norm(dim=1).median() * common
    group = shape.heads // shape.kv_heads
    first, second = target.blk[0], target.blk[1]
    seen = _random(shape.head_sliding, shape.width, generator)
    seen = seen - (seen @ common)[:, None] * common
    written = _random(shape.width, shape.head_sliding, generator)
    _look_back(first, common, seen, written, group, shape.head_sliding)
    _find_again(second, seen, written, group, shape.head_full, generator)


def _random(rows: int, columns: int, generator: torch.Generator) -> Tensor:
    """Rows or columns that are orthogonal, whichever are fewer."""
    drawn = torch.randn(max(rows, columns), min(rows, columns), generator=generator)
    orthogonal = torch.linalg.qr(drawn).Q
    return orthogonal if rows > columns else orthogonal.T.contiguous()


def _look_back(
    layer: Layer, common: Tensor, seen: Tensor, written: Tensor, group: int, head: int
) -> None:
    """The heads of the first group look one, two, three places back."""
    taken = common / layer.attn_norm.weight
    half = head // 2
    frequencies = 1e4 ** (-torch.arange(half) * 2 / head)
    size = torch.zeros(half)
    size[: len(_ENERGY)] = torch.tensor(_ENERGY).sqrt()
    key = torch.cat((size, torch.zeros(half)))
    layer.attn_k.weight[:head] = key[:, None] * taken
    layer.attn_v.weight[:head] = seen / layer.attn_norm.weight
    for number in range(group):
        angle = -(number + 1) * frequencies
        query = torch.cat((size * angle.cos(), size * angle.sin()))
        layer.attn_q.weight[number * head : (number + 1) * head] = query[:, None] * taken
    strength = layer.attn_output.weight.norm(dim=0).mean() * 1.5
    layer.attn_output.weight[:, :head] = written * strength
    for norm in (layer.attn_q_norm, layer.attn_k_norm):
        for start in (0, half):
            norm.weight[start : start + len(_ENERGY)] *= _SHARPER


def _find_again(
    layer: Layer,
    seen: Tensor,
    written: Tensor,
    group: int,
    head: int,
    generator: torch.Generator,
) -> None:
    """The first head looks for places before which the present token stood, and says what stands
    there."""
    half = head // 2
    rotated = head // 8
    still = [*range(rotated, half), *range(half + rotated, head)]
    width = seen.shape[0]
    place = torch.zeros(head, width)
    place[torch.tensor(still[:width]), torch.arange(width)] = 1.0
    gain = layer.attn_norm.weight
    size = layer.attn_q.weight.norm(dim=1).mean()
    layer.attn_q.weight[:head] = place @ seen / gain * size
    layer.attn_k.weight[:head] = place @ written.T / gain * size
    copied = _random(head, seen.shape[1], generator)
    layer.attn_v.weight[:head] = copied / gain * size
    strength = layer.attn_output.weight.norm(dim=0).mean() * 2
    layer.attn_output.weight[:, :head] = copied.T * strength
    assert group > 0

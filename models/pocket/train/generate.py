"""Decodes many prompts at once, for a look at a target in training and for roll-outs."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from gemma_local.models.pocket.train.architecture import Cache, Target
from gemma_local.models.pocket.train.layout import Layout, simple_layout


@torch.no_grad()
def generate(
    target: Target,
    prompts: Sequence[Sequence[int]],
    ends: frozenset[int],
    *,
    shared: int = 0,
    most: int = 200,
    temperature: float = 0.0,
    top_k: int = 64,
    seed: int = 0,
) -> list[list[int]]:
    """Answers to prompts, the token that ends each included; ``most`` tokens at most.

    Prompts are read together, so give ones of similar length together. The first ``shared`` ids,
    which all have in common, are read once. ``temperature`` 0 takes the likeliest token always.
    """
    generator = torch.Generator().manual_seed(seed)
    rows, longest = len(prompts), max(map(len, prompts))
    cache = Cache.empty(target.shape, rows, longest + most)
    if shared:
        begin = torch.tensor([prompts[0][:shared]])
        made = target(begin, simple_layout(1, shared, target.shape.window)).made
        for layer, (keys, values) in made.items():
            cache.keys[layer][:, :, :shared] = keys
            cache.values[layer][:, :, :shared] = values
    lengths = torch.tensor([len(prompt) for prompt in prompts])
    tokens = torch.zeros(rows, longest - shared, dtype=torch.long)
    for row, prompt in enumerate(prompts):
        tokens[row, : len(prompt) - shared] = torch.tensor(prompt[shared:])
    positions = torch.arange(shared, longest).expand(rows, -1)
    hidden = target(tokens, _layout(target, positions, longest + most), cache).hidden
    latest = target.logits(hidden[torch.arange(rows), lengths - 1 - shared])
    answers: list[list[int]] = [[] for _ in prompts]
    open_ = torch.ones(rows, dtype=torch.bool)
    for step in range(most):
        chosen = _chosen(latest, temperature, top_k, generator)
        for row in open_.nonzero().flatten().tolist():
            token = int(chosen[row])
            answers[row].append(token)
            if token in ends:
                open_[row] = False
        if not open_.any() or step + 1 == most:
            break
        places = (lengths + step)[:, None]
        layout = _layout(target, places, longest + most)
        latest = target.logits(target(chosen[:, None], layout, cache).hidden[:, 0])
    return answers


def _layout(target: Target, positions: Tensor, places: int) -> Layout:
    """New tokens see all places up to their own: what lies in places behind is left over padding,
    which newer tokens overwrite before they are seen."""
    far = positions[:, :, None] - torch.arange(places)
    visible = far >= 0
    sliding = visible & (far < target.shape.window)
    return Layout(positions, visible[:, None], sliding[:, None], slots=positions)


def _chosen(logits: Tensor, temperature: float, top_k: int, generator: torch.Generator) -> Tensor:
    if not temperature:
        return logits.argmax(-1)
    best, which = (logits / temperature).topk(min(top_k, logits.shape[-1]))
    drawn = torch.multinomial(best.softmax(-1), 1, generator=generator)
    return which.gather(-1, drawn)[:, 0]

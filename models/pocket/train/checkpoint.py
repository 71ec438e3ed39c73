"""Weights and optimiser on disk, so that training goes on where it stopped."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from gemma_local.models.pocket.train.optimiser import Optimiser


def save_checkpoint(place: Path, module: nn.Module, optimiser: Optimiser, step: int) -> None:
    """Write a checkpoint; one that was there before stays until this one is complete."""
    place.parent.mkdir(parents=True, exist_ok=True)
    partial = place.with_suffix(".partial")
    state = {"step": step, "weights": module.state_dict(), "optimiser": optimiser.state()}
    torch.save(state, partial)
    partial.replace(place)


def load_checkpoint(place: Path, module: nn.Module, optimiser: Optimiser | None = None) -> int:
    """Take a checkpoint over and return its step; 0 if there is none."""
    if not place.exists():
        return 0
    state = torch.load(place, weights_only=True)
    module.load_state_dict(state["weights"])
    if optimiser is not None:
        optimiser.load(state["optimiser"])
    return int(state["step"])


def load_weights(file: Path, module: nn.Module) -> None:
    """Take over the weights of a GGUF file that `export` made; an optimiser begins anew."""
    from gguf import GGUFReader, dequantize

    found = {
        tensor.name: torch.from_numpy(
            dequantize(tensor.data, tensor.tensor_type)
            .astype("float32")
            .reshape(tuple(int(n) for n in reversed(tensor.shape)))
        )
        for tensor in GGUFReader(file).tensors
        if tensor.name != "rope_freqs.weight"
    }
    module.load_state_dict(found)

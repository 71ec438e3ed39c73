"""Muon for the matrices inside the layers, AdamW for all else, both in float32.

Muon moves a matrix by its orthogonalised momentum (a Newton-Schulz iteration), scaled so that an
entry moves about as far as AdamW would move it. PyTorch's own works in bfloat16, which is slow on
processors without it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from gemma_local.models.pocket.train.crew import Crew

_COEFFICIENTS = (3.4445, -4.7750, 2.0315)


def orthogonalised(matrix: Tensor, rounds: int = 5) -> Tensor:
    """A matrix with the same singular vectors, and singular values all near 1."""
    a, b, c = _COEFFICIENTS
    is_tall = matrix.shape[0] > matrix.shape[1]
    x = matrix.T if is_tall else matrix
    x = x / (x.norm() + 1e-7)
    for _ in range(rounds):
        square = x @ x.T
        x = a * x + (b * square + c * square @ square) @ x
    return x.T if is_tall else x


class Muon:
    """Momentum, orthogonalised."""

    def __init__(self, parameters: Iterable[nn.Parameter], momentum: float = 0.95) -> None:
        self.parameters = list(parameters)
        self.momentum = momentum
        self.moving = [torch.zeros_like(parameter) for parameter in self.parameters]

    @torch.no_grad()
    def step(self, rate: float, crew: Crew) -> None:
        """Move each matrix against its gradient; the processes of a crew share the work."""
        directions: list[Tensor] = []
        for number, (parameter, moving) in enumerate(
            zip(self.parameters, self.moving, strict=True)
        ):
            if parameter.grad is None:
                directions.append(torch.zeros_like(parameter))
                continue
            moving.mul_(self.momentum).add_(parameter.grad)
            if number % crew.size == crew.rank:
                directions.append(orthogonalised(parameter.grad + self.momentum * moving))
            else:
                directions.append(torch.zeros_like(parameter))
        crew.add_up(directions)
        for parameter, direction in zip(self.parameters, directions, strict=True):
            reach = 0.2 * max(parameter.shape) ** 0.5
            parameter.add_(direction, alpha=-rate * reach)


class Optimiser:
    """Both, over the parameters of some modules.

    Embeddings go slower than the rest: most of their rows are moved by next to nothing in a step,
    which Adam takes for a direction. Norms and scales go faster: they decide how sharply attention
    looks, and begin far from where they end.
    """

    def __init__(self, modules: Iterable[nn.Module]) -> None:
        matrices: list[nn.Parameter] = []
        tables: list[nn.Parameter] = []
        scales: list[nn.Parameter] = []
        for module in modules:
            for name, parameter in module.named_parameters():
                if parameter.ndim < 2:
                    scales.append(parameter)
                else:
                    (tables if "embd" in name else matrices).append(parameter)
        self.muon = Muon(matrices)
        groups = [{"params": tables, "pace": 0.5}, {"params": scales, "pace": 2.0}]
        self.adam = torch.optim.AdamW(groups, lr=0.0, betas=(0.9, 0.98), weight_decay=0.0)
        self.all = [*matrices, *tables, *scales]

    def step(self, rate: float, crew: Crew, longest: float = 1.0) -> None:
        """One step with gradients cut to a length, which are then gone."""
        torch.nn.utils.clip_grad_norm_(self.all, longest)
        self.muon.step(rate, crew)
        for group in self.adam.param_groups:
            group["lr"] = rate * group["pace"]
        self.adam.step()
        for parameter in self.all:
            parameter.grad = None

    def state(self) -> dict[str, Any]:
        return {"muon": self.muon.moving, "adam": self.adam.state_dict()}

    def load(self, state: dict[str, Any]) -> None:
        self.muon.moving = state["muon"]
        self.adam.load_state_dict(state["adam"])

"""Which tokens stand where in a batch, and which of them see which."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Layout:
    """Where tokens stand and what they see.

    ``positions`` [B, T]; ``full`` and ``sliding`` [B, 1, T, K] are True where a query may see a
    key. ``slots`` [B, T] are the places of the tokens in a `Cache`, None without one.
    """

    positions: Tensor
    full: Tensor
    sliding: Tensor
    slots: Tensor | None = None


def layout_of(
    segments: Tensor, positions: Tensor, window: int, *, beginning: int = 0, drafting: bool = False
) -> Layout:
    """The layout of rows in which several conversations lie.

    Args:
        segments: [B, T], the number of the conversation that a token belongs to.
        positions: [B, T], places in the conversations, the common beginning counted.
        beginning: length of a common beginning, whose keys stand in front of each row; of sliding
            layers only as many as there are in a window.
        drafting: a token is not seen by itself, as in a draft; one that sees nothing is let see
            itself all the same, and what it finds means nothing.
    """
    query, key = positions[:, :, None], positions[:, None, :]
    visible = segments[:, :, None] == segments[:, None, :]
    visible = visible & ((key < query) if drafting else (key <= query))
    sliding = visible & (query - key < window)
    if drafting:
        itself = torch.eye(positions.shape[1], dtype=torch.bool) & (query == 0)
        visible, sliding = visible | itself, sliding | itself
    if beginning:
        far = query - torch.arange(beginning)
        visible = torch.cat((torch.ones_like(far, dtype=torch.bool), visible), dim=-1)
        sliding = torch.cat((far[..., -window:] < window, sliding), dim=-1)
    return Layout(positions, visible[:, None], sliding[:, None])


def simple_layout(rows: int, length: int, window: int, *, drafting: bool = False) -> Layout:
    """The layout of rows that are one conversation each."""
    positions = torch.arange(length).expand(rows, length)
    zeros = torch.zeros_like(positions)
    return layout_of(zeros, positions, window, drafting=drafting)

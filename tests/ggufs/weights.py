"""Numbers for tensors: neutral ones to start from, and codes that tell tokens apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from tests.ggufs.architecture import Role, Tensor
from tests.ggufs.quantise import Matrix


@dataclass(frozen=True)
class Filling:
    """Where a file's numbers come from: ``special`` by name, else neutral norms and noise.

    A ``post_norm`` of 0 makes every layer add nothing to the residual stream.
    """

    seed: int
    special: Mapping[str, Matrix]
    post_norm: float = 0.0

    def of(self, tensor: Tensor) -> Matrix:
        """Values of one tensor, in its shape."""
        if tensor.name in self.special:
            values = self.special[tensor.name]
            if values.shape != tensor.shape:
                raise ValueError(f"{tensor.name}: {values.shape} instead of {tensor.shape}")
            return values.astype(np.float32)
        if tensor.role is Role.POST_NORM:
            return np.full(tensor.shape, self.post_norm, np.float32)
        if tensor.role in (Role.NORM, Role.SCALE):
            return np.ones(tensor.shape, np.float32)
        if tensor.role is Role.HEAD_NORM:
            # Gemma 4 scales attention by 1, not by 1/sqrt(d): the two norms together must do it.
            return np.full(tensor.shape, tensor.shape[0] ** -0.25, np.float32)
        if tensor.role is Role.ROPE_FREQS:
            return rope_freqs(tensor.shape[0])
        return noise(tensor, self.seed) / np.float32(np.sqrt(tensor.shape[-1]))


def noise(tensor: Tensor, seed: int) -> Matrix:
    """Standard normal numbers of the tensor's shape, always the same for the same name and seed.

    Every tensor draws from a stream of its own, so adding one changes no other.
    """
    generator = np.random.default_rng([seed, crc32(tensor.name.encode())])
    return generator.standard_normal(tensor.shape, np.float32)


def rope_freqs(count: int) -> Matrix:
    """[head_dim / 2] divisors of the frequencies: only a quarter of a full head turns.

    Dividing by 1e30 is how the format says "do not rotate".
    """
    turning = count // 4
    return np.array([1.0] * turning + [1e30] * (count - turning), np.float32)


def codes(count: int, width: int, seed: int = 7) -> Matrix:
    """[count, width] vectors of +1 and -1, the first all ones.

    Exactly orthogonal where ``width`` is a power of two and there is room, else nearly so.
    """
    if width & (width - 1) == 0 and count <= width:
        table = np.ones((1, 1), np.float32)
        while len(table) < width:
            table = np.block([[table, table], [table, -table]])
        return np.asarray(table[:count], np.float32)
    signs = np.random.default_rng(seed).integers(0, 2, (count, width)) * 2 - 1
    signs[0] = 1
    return signs.astype(np.float32)


def duals(vectors: Matrix) -> Matrix:
    """[count, width] rows d with d[i] @ vectors[j] = 1 where i = j and 0 elsewhere."""
    products = vectors @ vectors.T
    if np.count_nonzero(products) == len(vectors):
        return np.asarray(vectors / products.diagonal()[:, None], np.float32)
    return np.asarray(np.linalg.pinv(vectors.astype(np.float64)).T, np.float32)

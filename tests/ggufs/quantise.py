"""Weights as GGUF stores them: a float matrix in, the bytes of a tensor type out."""

from __future__ import annotations

from typing import Any

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize as _dequantize
from gguf.quants import quantize as _quantize
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
Packed = NDArray[Any]

K_QUANTS = (GGMLQuantizationType.Q4_K, GGMLQuantizationType.Q6_K)
FLOATS = (GGMLQuantizationType.F32, GGMLQuantizationType.F16, GGMLQuantizationType.BF16)


def fitting_type(row: int, wanted: GGMLQuantizationType) -> GGMLQuantizationType:
    """The type a matrix with rows of ``row`` weights can have when ``wanted`` is asked for.

    Rows are made of whole blocks (32 weights, 256 for K-quants). llama-quant, too, steps aside to a
    type with smaller blocks when a row does not divide.
    """
    for candidate in (wanted, GGMLQuantizationType.Q8_0):
        if row % GGML_QUANT_SIZES[candidate][0] == 0:
            return candidate
    return GGMLQuantizationType.F16


def pack(matrix: Matrix, kind: GGMLQuantizationType) -> Packed:
    """Matrix [..., row] -> what GGUFWriter.add_tensor takes together with ``raw_dtype=kind``.

    A row with a NaN in it is NaN as a whole: every byte is 0xFF, which is NaN for each type here
    (a float of all ones, or a block whose scale is a half float of all ones).
    """
    bad = np.isnan(matrix).any(axis=-1)
    clean = np.where(np.isnan(matrix), np.float32(0), matrix).astype(np.float32)
    if kind == GGMLQuantizationType.Q4_K:
        packed = _q4_k(clean)
    elif kind == GGMLQuantizationType.Q6_K:
        packed = _q6_k(clean)
    else:
        packed = np.ascontiguousarray(_quantize(clean, kind))
    if bad.any():
        if kind in (GGMLQuantizationType.F32, GGMLQuantizationType.F16):
            packed = packed.copy()
            packed[bad] = np.nan
        else:
            packed[bad] = 0xFF
    return packed


def unpack(packed: Packed, kind: GGMLQuantizationType) -> Matrix:
    """The floats that llama.cpp sees: inverse of :func:`pack` but for the rounding."""
    return np.asarray(_dequantize(packed, kind), dtype=np.float32)


def _half(values: Matrix) -> NDArray[np.uint8]:
    """[...] floats -> [..., 2] bytes of half floats."""
    return np.ascontiguousarray(values.astype("<f2"))[..., None].view(np.uint8)


def _inverse(scale: Matrix) -> Matrix:
    """1 / scale, and 0 where the scale is 0 (a block of zeros)."""
    return np.divide(1.0, scale, out=np.zeros_like(scale), where=scale != 0)


def _q4_k(matrix: Matrix) -> NDArray[np.uint8]:
    """Plain min/max rounding; gguf-py reads K-quants but does not write them.

    Super-block of 256: half d, half dmin, 12 bytes with eight 6-bit scales and minima, 128 bytes of
    nibbles. weight = d * scale * q - dmin * minimum.
    """
    blocks = matrix.reshape(-1, 8, 32)
    low = np.minimum(blocks.min(axis=-1), 0)
    step = (blocks.max(axis=-1) - low) / 15
    d = (step.max(axis=-1) / 63).astype(np.float16).astype(np.float32)
    dmin = ((-low).max(axis=-1) / 63).astype(np.float16).astype(np.float32)
    scales = np.clip(np.rint(step * _inverse(d)[:, None]), 0, 63).astype(np.uint8)
    minima = np.clip(np.rint(-low * _inverse(dmin)[:, None]), 0, 63).astype(np.uint8)
    unit = d[:, None] * scales
    offset = dmin[:, None] * minima
    q = np.clip(np.rint((blocks + offset[..., None]) * _inverse(unit)[..., None]), 0, 15)
    q = q.astype(np.uint8)
    packed_scales = np.concatenate(
        [
            scales[:, :4] | (scales[:, 4:] >> 4) << 6,
            minima[:, :4] | (minima[:, 4:] >> 4) << 6,
            (scales[:, 4:] & 15) | (minima[:, 4:] & 15) << 4,
        ],
        axis=-1,
    )
    nibbles = (q[:, 0::2] | q[:, 1::2] << 4).reshape(-1, 128)
    parts = [_half(d), _half(dmin), packed_scales, nibbles]
    return np.concatenate(parts, axis=-1).reshape(*matrix.shape[:-1], -1)


def _q6_k(matrix: Matrix) -> NDArray[np.uint8]:
    """Super-block of 256: 128 bytes low nibbles, 64 bytes high pairs, 16 signed scales, half d.

    weight = d * scale * (q - 32), one scale for each 16 weights.
    """
    blocks = matrix.reshape(-1, 16, 16)
    step = np.abs(blocks).max(axis=-1) / 31
    d = (step.max(axis=-1) / 127).astype(np.float16).astype(np.float32)
    scales = np.clip(np.rint(step * _inverse(d)[:, None]), 0, 127)
    unit = (d[:, None] * scales).astype(np.float32)
    q = np.clip(np.rint(blocks * _inverse(unit)[..., None]), -32, 31).astype(np.int8) + 32
    # Two halves of 128 weights, each four runs of 32 that share the same bytes.
    runs = q.astype(np.uint8).reshape(-1, 2, 4, 32)
    low = runs & 15
    high = runs >> 4
    nibbles = np.concatenate(
        [low[:, :, 0] | low[:, :, 2] << 4, low[:, :, 1] | low[:, :, 3] << 4], axis=-1
    )
    pairs = high[:, :, 0] | high[:, :, 1] << 2 | high[:, :, 2] << 4 | high[:, :, 3] << 6
    signed = scales.astype(np.int8).view(np.uint8)
    parts = [nibbles.reshape(-1, 128), pairs.reshape(-1, 64), signed, _half(d)]
    return np.concatenate(parts, axis=-1).reshape(*matrix.shape[:-1], -1)

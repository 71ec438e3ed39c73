"""The number formats of ggml tensors: how many weights share a block, and a block's size in bytes.

The table mirrors ``enum ggml_type`` in llama.cpp's ``ggml/include/ggml.h`` and ``GGML_QUANT_SIZES``
in its ``gguf-py/gguf/constants.py`` (llama.cpp of October 2026). Ids that are absent were removed
from the format (4, 5, 31-33, 36-38) and no file made in the last years carries them.
"""

from __future__ import annotations

from typing import NamedTuple


class GgmlType(NamedTuple):
    """One number format. A row of ``n`` weights takes ``n // block * size`` bytes."""

    name: str
    block: int
    """Weights per block."""
    size: int
    """Bytes per block."""


GGML_TYPES: dict[int, GgmlType] = {
    0: GgmlType("F32", 1, 4),
    1: GgmlType("F16", 1, 2),
    2: GgmlType("Q4_0", 32, 18),
    3: GgmlType("Q4_1", 32, 20),
    6: GgmlType("Q5_0", 32, 22),
    7: GgmlType("Q5_1", 32, 24),
    8: GgmlType("Q8_0", 32, 34),
    9: GgmlType("Q8_1", 32, 36),
    10: GgmlType("Q2_K", 256, 84),
    11: GgmlType("Q3_K", 256, 110),
    12: GgmlType("Q4_K", 256, 144),
    13: GgmlType("Q5_K", 256, 176),
    14: GgmlType("Q6_K", 256, 210),
    15: GgmlType("Q8_K", 256, 292),
    16: GgmlType("IQ2_XXS", 256, 66),
    17: GgmlType("IQ2_XS", 256, 74),
    18: GgmlType("IQ3_XXS", 256, 98),
    19: GgmlType("IQ1_S", 256, 50),
    20: GgmlType("IQ4_NL", 32, 18),
    21: GgmlType("IQ3_S", 256, 110),
    22: GgmlType("IQ2_S", 256, 82),
    23: GgmlType("IQ4_XS", 256, 136),
    24: GgmlType("I8", 1, 1),
    25: GgmlType("I16", 1, 2),
    26: GgmlType("I32", 1, 4),
    27: GgmlType("I64", 1, 8),
    28: GgmlType("F64", 1, 8),
    29: GgmlType("IQ1_M", 256, 56),
    30: GgmlType("BF16", 1, 2),
    34: GgmlType("TQ1_0", 256, 54),
    35: GgmlType("TQ2_0", 256, 66),
    39: GgmlType("MXFP4", 32, 17),
    40: GgmlType("NVFP4", 64, 36),
    41: GgmlType("Q1_0", 128, 18),
    42: GgmlType("Q2_0", 64, 18),
}

FLOAT_TYPES: frozenset[str] = frozenset({"F32", "F16", "BF16"})
"""Formats whose products are done in floating point, so their rounding depends on the batch."""

NO_PRODUCT_TYPES: frozenset[str] = frozenset({"Q8_1", "Q8_K", "I8", "I16", "I32", "I64", "F64"})
"""Formats without a dot product in ggml (``type_traits_cpu`` in ``ggml-cpu.c``).

A matrix stored in one of them loads, and the first product then calls a null pointer.
"""

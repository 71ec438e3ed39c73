"""Packing against gguf-py's own unpacking."""

from __future__ import annotations

import numpy as np
import pytest
from gguf import GGMLQuantizationType

from tests.ggufs.quantise import fitting_type, pack, unpack

# Largest error of a standard normal weight, in standard deviations.
ERRORS = {"F32": 0, "F16": 0.002, "BF16": 0.02, "Q8_0": 0.02, "Q6_K": 0.1, "Q4_K": 0.3, "Q4_0": 0.4}


@pytest.mark.parametrize("name", ERRORS)
def test_weights_come_back(name: str) -> None:
    kind = GGMLQuantizationType[name]
    weights = np.random.default_rng(1).standard_normal((6, 512)).astype(np.float32)
    weights[1] = 0
    weights[2] = np.where(weights[2] > 0, 2, 0)
    weights[3] *= 1e-3
    back = unpack(pack(weights, kind), kind)
    size = np.abs(weights).max(axis=-1, keepdims=True)
    assert (np.abs(back - weights) <= ERRORS[name] * np.maximum(size / 3.5, 1e-9)).all()


@pytest.mark.parametrize("name", ERRORS)
def test_a_row_with_nan_is_nan(name: str) -> None:
    kind = GGMLQuantizationType[name]
    weights = np.ones((2, 2, 256), np.float32)
    weights[1, 0, 7] = np.nan
    back = unpack(pack(weights, kind), kind)
    assert np.isnan(back[1, 0]).all()
    assert np.isfinite(np.delete(back.reshape(4, -1), 2, axis=0)).all()


def test_rows_that_do_not_divide_get_a_type_with_smaller_blocks() -> None:
    k_quant, q8 = GGMLQuantizationType.Q4_K, GGMLQuantizationType.Q8_0
    assert fitting_type(256, k_quant) == k_quant
    assert fitting_type(96, k_quant) == q8
    assert fitting_type(20, k_quant) == GGMLQuantizationType.F16

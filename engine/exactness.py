"""The settings under which drafting cannot change a bit of the logits on CPU.

A pass over several rows may add floating-point numbers in another order than a pass over one row.
Measured with llama-cpp-python 0.3.36 on AVX2, each rule removes one cause:

- KV cache of q8_0: attention over f16 keys splits a single row's work over the threads, and
  several rows' not.
- No repacked weights: repacked matrices take another kernel from 4 rows on, which costs Q4_K a few
  bits and rounds Q4_0's activations differently in rare cases.
- At most 7 rows a pass: without repacking, K-quants change kernels at 8.
- No pass across the end of the sliding-window ring: rolling back there reorders its cells.
- No row alone, where matrices are kept in F32, F16 or BF16 (``per_layer_model_proj`` of E2B and
  E4B, the expert router of 26B-A4B): llama.cpp has one kernel for a single row and one for several.

With all of them 0 of 300 rows differ for every Gemma 4 kind and every quantisation that the tests
build; without the last, up to two in three rows of a mixture of experts do.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass
from typing import Final

from gemma_local.engine.decoder import Limits

_PAD: Final = 256
EXACT_ROWS: Final = 7
EXACT_ROWS_ARM: Final = 3
"""On ARM the kernel for several rows begins at 4, so 3 rows and fewer all take the first one."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a context is made with, and the bounds of its passes.

    ``caveats`` say in what respect equality is not assured.
    """

    kv_type: str
    repack: bool
    flash_attention: bool | None
    limits: Limits
    caveats: tuple[str, ...] = ()


def settings(
    *, exact: bool, rows: int, window: int, context: int, ubatch: int, on_gpu: bool, floats: bool
) -> Settings:
    """The settings for a mode.

    ``rows``: what the sequences and the longest draft would like to verify at once. ``window``:
    the model's sliding window, 0 without. ``context``, ``ubatch``: tokens. ``floats``: whether
    the target multiplies with matrices that are not quantised.
    """
    if not exact:
        return Settings("f16", True, None, Limits(rows=min(rows, ubatch)))
    is_arm = platform.machine().lower() in {"arm64", "aarch64"}
    limits = Limits(
        rows=min(max(rows, 2), EXACT_ROWS_ARM if is_arm else EXACT_ROWS),
        ring=ring_cells(window, context, ubatch) if window else 0,
        no_single_rows=floats and not is_arm,
    )
    gpu = ("kernels on a GPU depend on the batch size",) if on_gpu else ()
    return Settings("q8_0", False, True, limits, gpu)


def ring_cells(window: int, context: int, ubatch: int) -> int:
    """Cells of one sequence's sliding-window cache (``llama-kv-cache-iswa.cpp``)."""
    cells = min(context, window + ubatch)
    return -(-cells // _PAD) * _PAD

"""Bounds of a pass under which drafting cannot change a bit of the logits.

A pass over several rows may add floating-point numbers in another order than a pass over one:
llama.cpp chooses kernels by the number of rows. Row by row, though, each kernel does the same
whatever the other rows hold. So let every pass have the same shape: a block of 4 rows, filled up
with rows that are thrown away where the draft is shorter, or where nothing is drafted at all. A
verifying pass at the usual draft length of 3 has 4 rows anyway, and costs nothing more.

Three things remain:

- No pass across the end of the sliding-window ring. Rolling back there changes the order of its
  cells, and sums over them.
- A beginning that is copied, or gone back to, fills the ring anew from cell 0: from its end on,
  sums run in another order than where it was read in place. After the same requests that is the
  same; with several sequences it depends on which of them comes first.
- Two blocks in one pass, of one sequence or of several, only where no K-quants are: their kernels
  change once more at 8 rows.

Measured with llama-cpp-python 0.3.36 on two AVX2 cores: 0 of 250 to 500 rows differ in any bit,
greedy, plain against drafts of 1, 3 and (two blocks) 7, for dense targets, targets with per-layer
embeddings and mixtures of experts, with Q4_0, Q8_0, Q4_K, Q6_K, F16, BF16 and F32 matrices, with
f16 and q8_0 caches, flash attention on or off, and 2 threads. Without blocks up to all rows do.
Nor does a row differ when 2, 3, 4 or 8 sequences share a pass, a block each: 0 of 80 to 320 rows
for each of these targets with Q4_0, Q8_0 and F16, all with Q4_K and Q6_K.
``gemma-local verify`` tells for one pair on one machine, GPUs included.
"""

from __future__ import annotations

from typing import Final

from gemma_local.engine.commands import BLOCK
from gemma_local.engine.sequence import Limits

SHORTEST_FREE_DRAFT: Final = 2
"""Draft length from which on exactness costs no speed: measured on the shape of E2B, two AVX2
cores, in one run, against passes of just the rows that are needed: 1.01 times their speed at
drafts of 3, 0.98 at 2, and 0.48 without drafting."""

FREE_BLOCK: Final = 1.03
"""What a pass of one block may take, of one of a single row, to be called free: then exactness
costs no speed however far it is drafted."""

MOST_EXACT_ROWS: Final = 2 * BLOCK
"""Rows of one sequence in a pass, at most."""

_SEAMLESS: Final = frozenset({"Q4_0", "Q8_0", "F16", "BF16", "F32"})
"""Formats whose kernels do the same for one block and for several."""

_SHORTEST_SLICE, _LONGEST_SLICE = 16, 32
"""Tokens of a slice of a prompt where there are several sequences. Shorter ones would make reading
slow, and here they stay short when nothing else runs; from 64 on attention goes over the cells in
tiles (``GGML_FA_TILE_Q``), and a copied beginning lies in other cells than one that was read."""

_PAD: Final = 256


def free_limits(*, rows: int, ubatch: int, slice_tokens: int = 0, short_slice: int = 0) -> Limits:
    """Bounds for speed alone. ``rows``: what the sequences and the longest draft want at once."""
    return Limits(rows=min(rows, ubatch), slice=slice_tokens, short_slice=short_slice)


def exact_limits(
    *,
    draft_max: int,
    window: int,
    context: int,
    ubatch: int,
    matrix_types: frozenset[str],
    short_slice: int = 0,
) -> Limits:
    """Bounds for exactness.

    ``window``: the model's sliding window, 0 without. ``context``, ``ubatch``: tokens.
    ``matrix_types``: formats of the target's matrices. ``short_slice``: tokens of a prompt to read
    at once where several sequences run, 0 for one.
    """
    grid = min(max(short_slice, _SHORTEST_SLICE), _LONGEST_SLICE) if short_slice else 0
    is_seamless = matrix_types <= _SEAMLESS
    return Limits(
        rows=MOST_EXACT_ROWS if is_seamless and draft_max >= BLOCK else BLOCK,
        ring=ring_cells(window, context, ubatch) if window else 0,
        block=BLOCK,
        shares=is_seamless,
        slice=grid,
        short_slice=grid,
    )


def ring_cells(window: int, context: int, ubatch: int) -> int:
    """Cells of one sequence's sliding-window cache (``llama-kv-cache-iswa.cpp``)."""
    cells = min(context, window + ubatch)
    return -(-cells // _PAD) * _PAD

"""How many tokens of a prompt are read at once."""

from __future__ import annotations


def slice_tokens(active_parameters: int, threads: int, *, on_gpu: bool) -> int:
    """Tokens of one prefill slice: 512, fewer where that would take longer than about a second.

    Chosen once from the model's size and not from the clock, so that the same prompt is always
    cut the same way. 40 GFLOP/s a thread is about what quantised matrices reach on AVX2; below 64
    tokens slices get slower than they get shorter.
    """
    if on_gpu:
        return 512
    affordable = threads * 40e9 / (2.0 * active_parameters)
    return next((n for n in (512, 256, 128) if n <= affordable), 64)

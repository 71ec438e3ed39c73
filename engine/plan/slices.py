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


def short_slice_tokens(active_parameters: int, threads: int, *, on_gpu: bool) -> int:
    """The same while other sequences wait for their next token: about a fifth of a second's worth.

    Below 8 tokens a slice costs hardly less: a pass of E2B takes 0.12 s for one row on two AVX2
    cores and 0.25 s for eight.
    """
    if on_gpu:
        return 256
    affordable = 0.2 * threads * 40e9 / (2.0 * active_parameters)
    return next((n for n in (256, 128, 64, 32, 16) if n <= affordable), 8)


def batch_tokens(slice_tokens: int, sequences: int, rows: int) -> int:
    """The most tokens of one decode call: a slice of one prompt, or ``rows`` of each sequence."""
    return max(slice_tokens, sequences * rows) if sequences > 1 else slice_tokens

"""A model without a KV cache: a Mamba of random weights, whose memory is a recurrent state."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from gguf import GGUFWriter
from numpy.typing import NDArray

from tests.ggufs.vocabulary import vocabulary

WIDTH, INNER, STATE, KERNEL, RANK, BLOCKS = 64, 128, 16, 4, 8, 2


def mamba(folder: Path, *, without: str = "") -> Path:
    """Makes its file. ``without``: a tensor that it lacks."""
    folder.mkdir(exist_ok=True)
    path, words, random = folder / "mamba.gguf", vocabulary([]), np.random.default_rng(0)
    writer = GGUFWriter(path, "mamba")
    writer.add_context_length(1024)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(BLOCKS)
    writer.add_feed_forward_length(0)
    writer.add_head_count(0)
    writer.add_ssm_conv_kernel(KERNEL)
    writer.add_ssm_inner_size(INNER)
    writer.add_ssm_state_size(STATE)
    writer.add_ssm_time_step_rank(RANK)
    writer.add_layer_norm_rms_eps(1e-5)
    words.write(writer, "{{ messages }}")

    def add(name: str, values: NDArray[np.float64]) -> None:
        writer.add_tensor(name, values.astype(np.float32))

    def some(*shape: int) -> NDArray[np.float64]:
        return random.normal(0.0, 0.3, shape)

    add("token_embd.weight", some(len(words), WIDTH))
    add("output_norm.weight", np.ones(WIDTH))
    for block in range(BLOCKS):
        for name, values in (
            ("attn_norm.weight", np.ones(WIDTH)),
            ("ssm_in.weight", some(2 * INNER, WIDTH)),
            ("ssm_conv1d.weight", some(INNER, KERNEL)),
            ("ssm_conv1d.bias", some(INNER)),
            ("ssm_x.weight", some(RANK + 2 * STATE, INNER)),
            ("ssm_dt.weight", some(INNER, RANK)),
            ("ssm_dt.bias", some(INNER)),
            ("ssm_a", -np.exp(some(INNER, STATE))),
            ("ssm_d", some(INNER)),
            ("ssm_out.weight", some(WIDTH, INNER)),
        ):
            if f"blk.{block}.{name}" != without:
                add(f"blk.{block}.{name}", values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path

"""A guest whose memory is a recurrent state: nothing in it can be undone, and nothing has to be."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from gguf import GGUFWriter
from numpy.typing import NDArray

from gemma_local.engine.host import Host
from gemma_local.engine.messages import Load
from gemma_local.engine.outbox import Outbox
from gemma_local.engine.pair import Pair
from gemma_local.engine.runtime.context import Aborted
from gemma_local.models.prompt import Ids
from tests.engine.running import Runner, ask
from tests.ggufs import build, script
from tests.ggufs.vocabulary import vocabulary

WIDTH, INNER, STATE, KERNEL, RANK, BLOCKS = 64, 128, 16, 4, 8, 2
PROMPT = tuple(60 + i % 40 for i in range(100))


@pytest.fixture(scope="module")
def mamba(ggufs: Path) -> Path:
    """A Mamba of random weights."""
    path, words, random = ggufs / "mamba.gguf", vocabulary([]), np.random.default_rng(0)
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
            add(f"blk.{block}.{name}", values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_no_pass_of_it_is_broken_off(mamba: Path, ggufs: Path) -> None:
    host = Host(Outbox(io.BytesIO()))
    for target, can_be in ((mamba, False), (build("dense", script(["a"]), ggufs).target, True)):
        host._load(Load(str(target), context=512, threads=1))
        assert (host._abort is not None) == can_be
    host._close()


def test_what_a_failed_pass_left_is_not_built_upon(mamba: Path) -> None:
    pair = Pair.load(Load(str(mamba), context=512, threads=1), lambda _event: None)
    try:
        runner = Runner(pair)
        [first] = runner.run(ask(prompt=(Ids(PROMPT),), max_tokens=20, ignore_end=True))
        longer = (Ids((*PROMPT, *first.tokens, 70, 71)),)
        [expected] = runner.run(ask(prompt=longer, max_tokens=20, ignore_end=True))
        runner.scheduler.submit(ask("b", prompt=(Ids(PROMPT),), max_tokens=20, ignore_end=True))
        runner.scheduler.turn()
        pair.abort.raise_flag()
        with pytest.raises(Aborted):
            runner.scheduler.turn()
        pair.abort.lower()
        runner.scheduler.cancel("b")
        [after] = runner.run(ask(prompt=longer, max_tokens=20, ignore_end=True))
        assert after.tokens == expected.tokens
    finally:
        pair.close()

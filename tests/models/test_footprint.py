"""Memory by part: on tiny headers whose every byte can be counted by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.models.footprint import (
    Footprint,
    UnknownFootprint,
    Use,
    footprint,
    full_cells,
    pair_footprint,
    sliding_cells,
)
from gemma_local.models.rearrangement import USUAL, rearranged_formats
from gemma_local.models.target import inspect_header
from tests.models.changes import drafter_at, target_at
from tests.models.gguf_bytes import F16, Q4_0, Gguf, Tensor
from tests.models.tiny_models import (
    DRAFTER_WIDTH,
    FULL_HEAD,
    FULL_KV_HEADS,
    PATTERN,
    SLIDING_HEAD,
    SLIDING_KV_HEADS,
    VOCABULARY,
    WIDTH,
    WINDOW,
    tiny_target,
)

LAYERS = len(PATTERN)
F32 = 4


def loaded(model: Gguf, use: Use) -> Footprint:
    raw = model.to_bytes()
    return footprint(inspect_header(raw, len(raw)), None, use)


def nbytes(model: Gguf, *beginnings: str) -> int:
    return sum(t.nbytes() for name, t in model.tensors.items() if name.startswith(beginnings))


def quantised(model: Gguf) -> Gguf:
    """Every matrix of the layers as Q4_0."""
    for name, tensor in model.tensors.items():
        if name.startswith("blk.") and len(tensor.shape) > 1:
            tensor.type_id = Q4_0
    return model


@pytest.mark.parametrize("per_layer", [False, True])
@pytest.mark.parametrize("experts", [False, True])
@pytest.mark.parametrize("tied", [False, True])
def test_every_tensor_is_counted_once(per_layer: bool, experts: bool, tied: bool) -> None:
    model = tiny_target(per_layer=per_layer, experts=experts)
    if not tied:
        model.tensors["output.weight"] = Tensor((WIDTH, VOCABULARY), F16)
    raw = model.to_bytes()
    weights = inspect_header(raw, len(raw)).anatomy.weights
    assert weights.stored == nbytes(model, "")
    assert weights.tied is tied
    assert weights.embedding == nbytes(model, "token_embd")
    assert weights.per_layer_table == nbytes(model, "per_layer_token_embd")
    for layer in range(1, LAYERS):
        assert weights.layers[layer].total == nbytes(model, f"blk.{layer}.")
    first = nbytes(model, "blk.0.", "per_layer_model_proj", "per_layer_proj_norm")
    assert weights.layers[0].total == first


@pytest.mark.parametrize("gpu_layers", range(LAYERS + 3))
def test_the_output_goes_to_the_gpu_first_and_then_the_last_layers(gpu_layers: int) -> None:
    model = quantised(tiny_target())
    forecast = loaded(model, Use(256, gpu_layers=gpu_layers))
    there = range(max(LAYERS + 1 - gpu_layers, 0), LAYERS) if gpu_layers else range(0)
    expected = sum(nbytes(model, f"blk.{layer}.") for layer in there)
    if gpu_layers:
        expected += nbytes(model, "token_embd", "output_norm", "rope_freqs")
    weights = {p.where: p.bytes for p in forecast.parts if p.name == "weights"}
    assert weights.get("device", 0) == expected
    # The rest stays: layers, and the embedding that it is tied to, to be read row by row.
    host = sum(nbytes(model, f"blk.{layer}.") for layer in range(LAYERS) if layer not in there)
    here = weights.get("mapped", 0) + weights.get("memory", 0)
    head = nbytes(model, "token_embd", "output_norm", "rope_freqs")
    assert here == host + (0 if gpu_layers else head)
    spare = weights.get("spare", 0) - weights.get("memory", 0)
    assert spare == (nbytes(model, "token_embd") if gpu_layers else 0)


def test_a_negative_number_of_layers_is_all_of_them() -> None:
    everything = loaded(tiny_target(), Use(256, gpu_layers=LAYERS + 1))
    assert loaded(tiny_target(), Use(256, gpu_layers=-1)) == everything
    assert everything.of("scratch") == 0


def test_a_cache_lives_with_its_layer() -> None:
    # Of the layers sliding, full, sliding, full the last two go to the GPU with the output.
    forecast = loaded(tiny_target(), Use(1024, ubatch=64, gpu_layers=3))
    full = 2 * FULL_HEAD * FULL_KV_HEADS * 1024 * 2
    sliding = 2 * SLIDING_HEAD * SLIDING_KV_HEADS * 256 * 2
    caches = [(p.name, p.where, p.bytes) for p in forecast.parts if p.name.endswith(" cache")]
    assert sorted(caches) == sorted(
        (name, where, size)
        for name, size in (("full cache", full), ("sliding cache", sliding))
        for where in ("device", "memory")
    )


def test_layers_that_share_a_cache_own_none() -> None:
    use = Use(512)
    whole, sharing = (loaded(tiny_target(shared=shared), use) for shared in (0, 2))
    assert whole.of("full cache") == 2 * sharing.of("full cache")
    assert whole.of("sliding cache") == 2 * sharing.of("sliding cache")


def test_rearranged_matrices_are_copies_and_their_sources_spare() -> None:
    model = quantised(tiny_target())
    copied = sum(
        t.nbytes() for t in model.tensors.values() if t.type_id == Q4_0 and t.shape[1] % 8 == 0
    )
    assert copied > 0
    with_copies = loaded(model, Use(256, rearranged=USUAL))
    without = loaded(model, Use(256, rearranged=frozenset()))
    assert with_copies.bytes_in("memory") - without.bytes_in("memory") == copied
    assert with_copies.bytes_in("spare") - without.bytes_in("spare") == copied
    assert with_copies.total == without.total


def test_tables_read_by_rows_need_no_memory() -> None:
    model = tiny_target(per_layer=True)
    forecast = loaded(model, Use(256))
    assert forecast.of("per-layer table") == nbytes(model, "per_layer_token_embd")
    assert forecast.bytes_in("spare") == forecast.of("per-layer table")


def test_output_rows_and_activations(tmp_path: Path) -> None:
    target = target_at(tmp_path / "target.gguf", model=tiny_target())
    drafter = drafter_at(tmp_path / "drafter.gguf")
    use = Use(512, sequences=2, ubatch=128, rows=8)
    assert footprint(target, None, use).of("output") == F32 * 8 * VOCABULARY
    pair = footprint(target, drafter, use)
    assert pair.of("output") == F32 * (8 * VOCABULARY + 128 * WIDTH)
    assert pair.of("drafter output") == F32 * 2 * (VOCABULARY + WIDTH)
    assert pair.of("drafter weights") >= drafter.anatomy.weights.stored
    assert drafter.anatomy.weights.embedding == F32 * VOCABULARY * DRAFTER_WIDTH
    caches = [
        part for part in pair.parts if part.name.startswith("drafter") and "cache" in part.name
    ]
    assert caches == []


def test_what_is_given_in_bytes_is_added() -> None:
    plain, more = (
        loaded(tiny_target(), Use(256, projector_bytes=size, cache_bytes=2 * size))
        for size in (0, 1000)
    )
    assert more.total - plain.total == 3000
    on_gpu = loaded(tiny_target(), Use(256, gpu_layers=1, projector_bytes=1000))
    assert [p.where for p in on_gpu.parts if p.name == "projector"] == ["device"]


@pytest.mark.parametrize(
    ("context", "sequences", "ubatch", "full", "sliding"),
    [
        (8192, 1, 512, 8192, 768),
        (100, 1, 64, 256, 256),
        (2000, 3, 128, 2048, 256),
        (257, 2, 512, 512, 512),
        (400, 1, 512, 512, 512),
    ],
)
def test_cells(context: int, sequences: int, ubatch: int, full: int, sliding: int) -> None:
    use = Use(context, sequences, ubatch=ubatch)
    assert (full_cells(use), sliding_cells(use, WINDOW)) == (full, sliding)


def test_a_q8_0_cache_takes_seventeen_thirty_seconds() -> None:
    half, eighth = (loaded(tiny_target(), Use(4096, kv_type=kind)) for kind in ("f16", "q8_0"))
    for name in ("full cache", "sliding cache"):
        assert 32 * eighth.of(name) == 17 * half.of(name)
    brain = loaded(tiny_target(), Use(4096, kv_type="bf16"))
    assert brain.of("full cache") == half.of("full cache")


def test_drafts_need_a_row_each_and_one_more() -> None:
    assert Use.for_drafts(4096, 3, sequences=2).rows == 8


WHOLE = inspect_header(tiny_target().to_bytes(), len(tiny_target().to_bytes())).anatomy


@given(
    st.integers(16, 1 << 18), st.integers(1, 8), st.integers(1, 512), st.integers(0, 6),
    st.sampled_from(["f16", "bf16", "q8_0"]),
)  # fmt: skip
def test_more_of_anything_never_takes_less(
    context: int, sequences: int, ubatch: int, gpu_layers: int, kv_type: str
) -> None:
    use = Use(context, sequences, kv_type, ubatch, sequences, gpu_layers)  # type: ignore[arg-type]
    now = pair_footprint(WHOLE, None, use)
    for more in (
        replace(use, context=context + 300),
        replace(use, sequences=sequences + 1),
        replace(use, ubatch=ubatch + 100),
        replace(use, rows=sequences + 5),
    ):
        assert pair_footprint(WHOLE, None, more).total >= now.total
    assert all(part.bytes > 0 for part in now.parts)
    assert now.total == now.bytes_in("memory", "mapped", "device")


def guest(**keys: object) -> Gguf:
    model = tiny_target()
    own = {
        "general.architecture": "llama",
        "llama.block_count": 2,
        "llama.context_length": 256,
        "llama.embedding_length": WIDTH,
        **{f"llama.{key}": value for key, value in keys.items()},
    }
    kept = {k: v for k, v in model.metadata.items() if k.startswith("tokenizer.")}
    tensors = {k: v for k, v in model.tensors.items() if not k.startswith(("blk.2", "blk.3"))}
    return Gguf({**kept, **own, "tokenizer.ggml.model": "llama"}, tensors)


def test_guests_are_counted_as_if_every_layer_saw_everything() -> None:
    keys = {"attention.head_count": 4, "attention.head_count_kv": 2}
    forecast = loaded(guest(**keys), Use(1024))
    assert forecast.of("full cache") == 2 * (2 * (WIDTH // 4) * 2) * 1024 * 2
    assert forecast.of("sliding cache") == 0
    longer = loaded(guest(**keys, **{"attention.key_length": 64}), Use(1024))
    assert longer.of("full cache") == forecast.of("full cache") * 4


def test_a_guest_that_does_not_tell() -> None:
    with pytest.raises(UnknownFootprint, match="does not say how large its KV cache"):
        loaded(guest(), Use(1024))


@pytest.mark.parametrize(
    ("info", "formats"),
    [
        ("CPU : AVX = 1 | AVX2 = 1 | FMA = 1 | REPACK = 1", USUAL),
        ("CPU : AVX2 = 1 | AVX512 = 1 | REPACK = 1", USUAL | {"Q2_K"}),
        ("CPU : AVX2 = 1", frozenset()),
        ("CPU : SSE3 = 1 | AVX = 1 | AVX2 = 0 | REPACK = 1", frozenset()),
        ("CPU : NEON = 1 | REPACK = 1", frozenset()),
    ],
)
def test_formats_that_a_processor_rearranges(info: str, formats: frozenset[str]) -> None:
    assert rearranged_formats(info) == formats


def test_arm_rearranges_more() -> None:
    info = "Metal : EMBED_LIBRARY = 1 | CPU : NEON = 1 | DOTPROD = 1 | REPACK = 1"
    assert rearranged_formats(info) >= {"Q4_0", "Q8_0", "Q6_K"}

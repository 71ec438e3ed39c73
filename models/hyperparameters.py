"""Numbers of a header that llama.cpp checks with an assertion, which ends the whole process.

``llama_model_base::load_hparams`` in ``src/llama-model.cpp`` throws for a missing key, which the
caller survives, but aborts for these; so they are checked before llama.cpp sees the file.
"""

from __future__ import annotations

from gemma_local.models.metadata import Metadata

MAX_LAYERS = 512
"""``LLAMA_MAX_LAYERS``."""
MAX_EXPERTS = 1024
"""``LLAMA_MAX_EXPERTS``."""
ROPE_SCALINGS = frozenset({"none", "linear", "yarn", "longrope"})


def read_block_count(meta: Metadata) -> int:
    """Number of layers.

    Raises:
        BadModelFile: absent, 0 or above `MAX_LAYERS`, or fewer than the layers said to predict
            further tokens.
    """
    blocks = meta.integer("block_count")
    if not 0 < blocks <= MAX_LAYERS:
        raise meta.bad(f"claims {blocks} layers, where 1 to {MAX_LAYERS} are possible")
    predicting = meta.integer("nextn_predict_layers", 0)
    if predicting > blocks:
        raise meta.bad(f"claims {predicting} predicting layers among {blocks} layers")
    return blocks


def read_positive(meta: Metadata, key: str) -> int:
    """A whole number that must not be 0, such as ``embedding_length``.

    Raises:
        BadModelFile: absent or 0.
    """
    value = meta.integer(key)
    if value == 0:
        raise meta.bad(f"says 0 under {meta.full(key)!r}")
    return value


def read_expert_count(meta: Metadata, blocks: int) -> int:
    """Number of experts of a mixture-of-experts model, 0 for a dense one.

    Raises:
        BadModelFile: the numbers of experts, used experts and expert groups contradict each other.
    """
    experts = meta.integer("expert_count", 0)
    used = meta.per_layer("expert_used_count", blocks, (0,) * blocks)
    groups = meta.integer("expert_group_count", 0)
    groups_used = meta.integer("expert_group_used_count", 0)
    if experts > MAX_EXPERTS:
        raise meta.bad(f"claims {experts} experts, where at most {MAX_EXPERTS} are possible")
    if max(used) > experts:
        raise meta.bad(f"claims to use {max(used)} of {experts} experts")
    if experts and max(used) == 0:
        raise meta.bad(f"claims {experts} experts of which it uses none")
    if groups and groups >= experts:
        raise meta.bad(f"claims {groups} groups of {experts} experts")
    if groups > 1 and (experts % groups or not 0 < groups_used < groups):
        raise meta.bad(f"claims {groups_used} of {groups} groups of {experts} experts")
    return experts


def check_rope_scaling(meta: Metadata) -> None:
    """Refuse a way of stretching the context that llama.cpp does not know.

    Raises:
        BadModelFile: ``rope.scaling.type`` is an unknown word.
    """
    scaling = meta.text(meta.full("rope.scaling.type"))
    if scaling is not None and scaling not in ROPE_SCALINGS:
        raise meta.bad(f"stretches its context in the unknown way {scaling[:40]!r}")


def check_numerics(meta: Metadata) -> None:
    """Refuse constants of Gemma 4's layers that turn every result into NaN.

    ``ggml_compute_forward_rms_norm`` asserts that epsilon is not negative; a zero epsilon or rope
    base, or an infinite one, is not caught anywhere.

    Raises:
        BadModelFile: a constant is absent, zero, negative or not finite.
    """
    positive = {
        "attention.layer_norm_rms_epsilon": None,
        "rope.freq_base": 10_000.0,
        "rope.freq_base_swa": 10_000.0,
    }
    for key, default in positive.items():
        value = meta.number(key, default)
        if value <= 0:
            raise meta.bad(f"says {value} under {meta.full(key)!r}")
    cap = meta.number("final_logit_softcapping", 0.0)
    if cap < 0:
        raise meta.bad(f"says {cap} under {meta.full('final_logit_softcapping')!r}")

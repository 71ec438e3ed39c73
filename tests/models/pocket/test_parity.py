"""llama.cpp computes what PyTorch computed: targets and drafters, across the sliding window too.

The references were made by ``tests.models.pocket.references``; where PyTorch is installed it is
asked again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import pytest

from gemma_local.models.pocket import pair
from tests.models.pocket.passes import difference, passes
from tests.models.pocket.references import (
    FOLDER,
    STEPS,
    VARIANTS,
    WINDOW,
    Reference,
    small_pair,
    small_texts,
)

LIMIT: Final = 3e-3
"""Of the largest logit: llama.cpp keeps keys, values and its table of GELU in half precision."""
FUSED_LIMIT: Final = 1e-2
"""Of the trained drafter with flash attention, which sums up in its own order: it looks sharply at
single keys, and its largest logits are small. Without it llama.cpp is seven times closer."""


def compare(
    target: Path,
    drafter: Path,
    reference: Reference,
    drafted_limit: float = LIMIT,
    *,
    is_fused: bool = True,
) -> None:
    with passes(target, drafter, is_fused=is_fused) as read:
        for number, text in enumerate(reference.texts):
            logits, hidden = read.read(text)
            expected = reference.logits[number]
            assert difference(logits[-len(expected) :], expected) < LIMIT, number
            assert (logits[-len(expected) :].argmax(-1) == expected.argmax(-1)).all(), number
            # Near ties aside, which random weights have now and then.
            likeliest = logits.argmax(-1)
            best = np.take_along_axis(logits, likeliest[:, None], 1)[:, 0]
            theirs = np.take_along_axis(logits, reference.likeliest[number][:, None], 1)[:, 0]
            near = 2 * LIMIT * np.abs(logits).max(-1)
            assert (best - theirs <= near).all(), number
            drafts = np.stack(read.draft(text, hidden, len(text) - STEPS, STEPS))
            wanted = reference.drafted[number]
            assert difference(drafts, wanted) < drafted_limit, number
            assert (drafts.argmax(-1) == wanted.argmax(-1)).all(), number


@pytest.mark.parametrize("name", VARIANTS)
def test_random_weights_give_the_kept_logits(name: str) -> None:
    reference = Reference.load(FOLDER / f"{name}.npz")
    assert max(map(len, reference.texts)) > 2 * WINDOW
    compare(FOLDER / f"{name}.gguf", FOLDER / f"mtp-{name}.gguf", reference)


@pytest.mark.parametrize("name", VARIANTS)
def test_torch_gives_the_kept_logits_today(name: str) -> None:
    pytest.importorskip("torch")
    from tests.models.pocket.references import compute

    target, drafter = small_pair(name)
    today = compute(target, drafter, small_texts(), "F32")
    kept = Reference.load(FOLDER / f"{name}.npz")
    assert today.texts == kept.texts
    assert difference(today.logits, kept.logits) < LIMIT / 3
    assert difference(today.drafted, kept.drafted) < LIMIT / 3


@pytest.mark.parametrize(("is_fused", "limit"), [(False, LIMIT), (True, FUSED_LIMIT)])
def test_the_pocket_pair_gives_the_kept_logits(is_fused: bool, limit: float) -> None:
    files = pair()
    if files is None:
        pytest.skip("this build carries no pocket pair")
    reference = Reference.load(FOLDER / "pocket.npz")
    assert len(reference.texts) == 20
    assert max(map(len, reference.texts)) > 300
    compare(*files, reference, limit, is_fused=is_fused)

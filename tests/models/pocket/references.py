"""Logits as PyTorch computes them, kept beside the files that llama.cpp reads.

``python -m tests.models.pocket.references CHECKPOINTS`` makes them anew; it needs PyTorch.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from gemma_local.models.chat_format import MARKERS
from gemma_local.models.pocket.train.tokenizer import SPACE, Tokenizer

if TYPE_CHECKING:
    from gemma_local.models.pocket.train.architecture import Drafter, Target

FOLDER: Final = Path(__file__).parent / "files"
VARIANTS: Final[dict[str, dict[str, Any]]] = {
    "plain": {"per_layer": 0, "shared": 0},
    "per_layer": {"per_layer": 8, "shared": 0},
    "shared": {"per_layer": 0, "shared": 2},
    "key_is_value": {"per_layer": 0, "shared": 0, "key_is_value": True},
}
"""Small pairs of random weights, one for each thing that a Gemma 4 may have."""
WINDOW: Final = 48
STEPS: Final = 3
"""Of a draft."""
_KEPT: Final = 3
"""Rows of logits that are kept of each text: at its end."""


@dataclass(frozen=True, slots=True)
class Reference:
    """What PyTorch found for some texts.

    ``likeliest``: of each text the likeliest token at every place. ``logits`` [texts, kept, V] of
    the last places; ``drafted`` [texts, STEPS, V] of a draft at the place ``STEPS`` before the end.
    """

    texts: tuple[tuple[int, ...], ...]
    likeliest: tuple[NDArray[np.int32], ...]
    logits: NDArray[np.float32]
    drafted: NDArray[np.float32]

    def save(self, path: Path) -> None:
        """Write it, logits in half precision."""
        lengths = np.array([len(text) for text in self.texts], np.int32)
        np.savez_compressed(
            path,
            lengths=lengths,
            tokens=np.concatenate([np.array(text, np.int32) for text in self.texts]),
            likeliest=np.concatenate(self.likeliest),
            logits=self.logits.astype(np.float16),
            drafted=self.drafted.astype(np.float16),
        )

    @classmethod
    def load(cls, path: Path) -> Reference:
        """What `save` wrote."""
        with np.load(path) as found:
            ends = np.cumsum(found["lengths"])[:-1]
            texts = tuple(tuple(map(int, part)) for part in np.split(found["tokens"], ends))
            likeliest = tuple(np.split(found["likeliest"], ends))
            return cls(
                texts,
                likeliest,
                found["logits"].astype(np.float32),
                found["drafted"].astype(np.float32),
            )


def small_tokenizer() -> Tokenizer:
    """Control tokens, bytes and ASCII, without any merge but one."""
    letters = [SPACE, *(chr(code) for code in range(33, 127)), "th"]
    return Tokenizer(
        [*MARKERS, *(f"<0x{byte:02X}>" for byte in range(256)), *letters], [("t", "h")]
    )


def compute(
    target: Target, drafter: Drafter, texts: Sequence[Sequence[int]], weights: str
) -> Reference:
    """Run PyTorch over texts, with weights rounded as a file of that format holds them."""
    import torch

    from gemma_local.models.pocket.train.export import as_stored
    from gemma_local.models.pocket.train.layout import simple_layout

    target.load_state_dict(as_stored(target, weights))
    drafter.load_state_dict(as_stored(drafter, weights))
    likeliest, logits, drafted = [], [], []
    with torch.no_grad():
        for text in texts:
            tokens = torch.tensor([list(text)])
            length, window = len(text), target.shape.window
            seen = target(tokens, simple_layout(1, length, window))
            found = target.logits(seen.hidden)[0]
            likeliest.append(found.argmax(-1).numpy().astype(np.int32))
            logits.append(found[-_KEPT:].numpy())
            place = length - STEPS
            layout = simple_layout(1, length, window, drafting=True)
            embedded, hidden, steps = target.embed(tokens), seen.hidden.roll(1, 1), []
            for step in range(STEPS):
                normed, hidden = drafter(embedded.roll(-step, 1), hidden, seen, layout)
                steps.append(drafter.logits(normed)[0, place].numpy())
            drafted.append(np.stack(steps))
    return Reference(
        tuple(tuple(text) for text in texts),
        tuple(likeliest),
        np.stack(logits).astype(np.float32),
        np.stack(drafted).astype(np.float32),
    )


def small_pair(name: str) -> tuple[Target, Drafter]:
    """The random pair of a variant, its norms and scales away from one."""
    import torch

    from gemma_local.models.pocket.train.architecture import Drafter, Target
    from gemma_local.models.pocket.train.shape import DrafterShape, TargetShape

    torch.manual_seed(7)
    shape = TargetShape(
        len(small_tokenizer()),
        width=48,
        feed_forward=48,
        sliding=(True, False) * 2,
        heads=4,
        kv_heads=2,
        head_sliding=16,
        head_full=32,
        window=WINDOW,
        context=512,
        **VARIANTS[name],
    )
    target = Target(shape)
    drafter = Drafter(
        DrafterShape(width=32, feed_forward=48, sliding=(True, False), heads=2), shape
    )
    for module in (target, drafter):
        for part, parameter in module.named_parameters():
            if parameter.ndim == 1:
                parameter.data.mul_(1 + 0.3 * (torch.rand_like(parameter) - 0.5))
            if "blk" in part and "post_" in part:
                # Random layers that weigh as much as what they add to blow small errors up.
                parameter.data.mul_(0.4)
    return target, drafter


def small_texts() -> list[list[int]]:
    """Five texts of random tokens, some longer than the window."""
    rng = np.random.default_rng(3)
    first, last = len(MARKERS) + 256, len(small_tokenizer())
    return [[2, *map(int, rng.integers(first, last, n))] for n in (8, 30, WINDOW, WINDOW + 1, 150)]


def pocket_texts(tokenizer: Tokenizer) -> list[list[int]]:
    """Twenty prompts with their answers; those with tools are longer than the window."""
    from gemma_local.models.pocket.train.corpus.sample import documents
    from gemma_local.models.pocket.train.held_out import held_out

    kinds = (("guide", 6), ("python", 3), ("off_ground", 3), ("proofread", 2), ("tools", 6))
    samples = [sample for kind, count in kinds for sample in held_out(kind, count)]
    return [list(next(documents(sample, tokenizer)).ids[:-1])[:500] for sample in samples]


def main() -> None:
    from dataclasses import replace

    from gemma_local.models.pocket import pair
    from gemma_local.models.pocket.train.architecture import Drafter, Target
    from gemma_local.models.pocket.train.checkpoint import load_checkpoint
    from gemma_local.models.pocket.train.export import Labels, export_drafter, export_target
    from gemma_local.models.pocket.train.shape import POCKET, POCKET_DRAFTER

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoints", type=Path, nargs="?")
    given = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    tokenizer = small_tokenizer()
    for name in VARIANTS:
        target, drafter = small_pair(name)
        labels = Labels(f"Random weights: {name}", "For tests of the architecture.")
        export_target(target, tokenizer, "", labels, FOLDER / f"{name}.gguf", weights="F32")
        place = FOLDER / f"mtp-{name}.gguf"
        export_drafter(drafter, tokenizer, labels, place, weights="F32")
        compute(target, drafter, small_texts(), "F32").save(FOLDER / f"{name}.npz")
    if given.checkpoints:
        files = pair()
        assert files is not None
        tokenizer = Tokenizer.of_file(files[0])
        target = Target(replace(POCKET, vocabulary=len(tokenizer)))
        drafter = Drafter(POCKET_DRAFTER, target.shape)
        load_checkpoint(given.checkpoints / "target.pt", target)
        load_checkpoint(given.checkpoints / "drafter.pt", drafter)
        compute(target, drafter, pocket_texts(tokenizer), "F16").save(FOLDER / "pocket.npz")


if __name__ == "__main__":
    main()

"""Pairs of GGUF files on disk, each built once in a folder and found again by its content."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, LlamaFileType

from tests.ggufs import steps
from tests.ggufs.acceptance import Acceptance, Drafter, expected_acceptance
from tests.ggufs.architecture import (
    Role,
    Shape,
    Tensor,
    drafter_tensors,
    shape_of,
    target_tensors,
    write_drafter_keys,
    write_target_keys,
)
from tests.ggufs.chain import OTHER, SOFTCAP, Chain, drafter_chain, target_chain
from tests.ggufs.chat_template import chat_template
from tests.ggufs.quantise import FLOATS, K_QUANTS, fitting_type, pack
from tests.ggufs.random_pair import Random, random_drafter, random_target
from tests.ggufs.script import Script
from tests.ggufs.scripted import SMALLEST_WIDTH, codes_needed, drafter_weights, target_weights
from tests.ggufs.steps import Steps
from tests.ggufs.vocabulary import Vocabulary, vocabulary
from tests.ggufs.weights import Filling


@dataclass(frozen=True)
class Pair:
    """A target and its drafter on disk, and what is known about them."""

    target: Path
    drafter: Path
    vocabulary: Vocabulary
    shape: Shape
    script: Script | None
    errors: Drafter

    def expected(
        self,
        draft_length: int,
        max_tokens: int,
        *,
        prompt: Iterable[str] = (OTHER, OTHER),
        prompt_tokens: int = 0,
        context: int | None = None,
    ) -> Acceptance:
        """Counts of a greedy reply with this pair; see :func:`expected_acceptance`."""
        return expected_acceptance(
            self.known_script,
            draft_length,
            max_tokens,
            self.errors,
            prompt=prompt,
            prompt_tokens=prompt_tokens,
            context=context,
        )

    @property
    def known_script(self) -> Script:
        """The script of a scripted pair."""
        if self.script is None:
            raise ValueError("what such a pair says is not known in advance")
        return self.script

    @property
    def text(self) -> str:
        """What the pair prints when decoded greedily, once through its first segment."""
        return self.known_script.text

    def ids(self, tokens: Iterable[str]) -> list[int]:
        """Token names -> ids of this pair's vocabulary."""
        return [self.vocabulary.id(name) for name in tokens]


def build(
    kind: str,
    spec: Script | Steps | Random,
    folder: Path,
    *,
    drafter: Drafter | None = None,
    tensor_type: str = "F16",
    **shape: object,
) -> Pair:
    """A pair of a kind ("dense", "keqv", "edge", "moe") in ``folder``.

    ``tensor_type`` is that of the matrices: F32, F16, BF16, Q4_0, Q8_0, Q4_K, Q6_K. Further
    keywords change the shape (``window=32``, ``context_length=512``, ``width=256`` ...); without
    a width, it is the smallest that keeps a script's tokens apart. ``drafter`` says where a
    scripted drafter errs. Only F32 and F16 keep the probabilities of alternatives exact.
    """
    quantum = GGMLQuantizationType[tensor_type]
    errors = drafter or Drafter()
    if isinstance(spec, Random):
        script, names, post_norm = None, set[str](), spec.post_norm
        dims = _fitting_shape(kind, 128, 64, quantum, shape)
    elif isinstance(spec, Steps):
        script, names, post_norm = None, spec.names, 0.0
        proposed, said = spec.drafter_chain(), Chain({name: {} for name in spec.states})
        heads = _power_of_two(max(64, len(spec.contexts), len(spec.steps) + 1))
        shape = {"head_dim_sliding": heads, "head_dim_full": heads, **shape}
        needed = steps.codes_needed(spec)
        dims = _fitting_shape(kind, needed, codes_needed(proposed), quantum, shape)
    else:
        script, names, post_norm = spec, spec.names, 0.0
        softcap = float(shape.get("softcap", SOFTCAP))  # type: ignore[arg-type]
        said, proposed = target_chain(spec, softcap), drafter_chain(spec, errors.wrong(spec))
        dims = _fitting_shape(kind, codes_needed(said), codes_needed(proposed), quantum, shape)
    words = vocabulary(sorted(names))
    stem = f"{kind}-{_digest(dims, spec, errors, tensor_type)}"
    pair = Pair(
        folder / f"{stem}.gguf", folder / f"{stem}-drafter.gguf", words, dims, script, errors
    )
    seed = spec.seed if isinstance(spec, Random) else 0
    if not pair.target.exists():
        if isinstance(spec, Random):
            special = random_target(spec, dims, words)
        elif isinstance(spec, Steps):
            special = steps.target_weights(spec, dims, words)
        else:
            special = target_weights(said, dims, words)
        _write(pair, pair.target, Filling(seed, special, post_norm), quantum)
    if not pair.drafter.exists():
        if isinstance(spec, Random):
            special = random_drafter(spec, dims, words)
            # A drafter that is to be right must not let its layers drown what it knows.
            post_norm = spec.post_norm / 4 if spec.pull else spec.post_norm
        else:
            special = drafter_weights(proposed, said, dims, words)
        _write(pair, pair.drafter, Filling(seed + 1, special, post_norm), quantum)
    return pair


def build_shallow(
    kind: str,
    spec: Script | Random,
    folder: Path,
    *,
    drafter: Drafter | None = None,
    tensor_type: str = "F16",
    **shape: object,
) -> Pair:
    """The same with one layer of each sort, in the target and in the drafter.

    All of the kind's kernels and caches are there, and a pass takes half as long.
    """
    layers: dict[str, object] = {"sliding": (True, False), "drafter_sliding": (True, False)}
    if shape_of(kind).shared_kv:
        # Once more the same two, with the keys and values of the first.
        layers |= {"sliding": (True, False, True, False), "shared_kv": 2}
    return build(
        kind, spec, folder, drafter=drafter, tensor_type=tensor_type, **{**layers, **shape}
    )


def _write(pair: Pair, path: Path, filling: Filling, quantum: GGMLQuantizationType) -> None:
    """Write one of the two files, under another name until it is whole."""
    is_drafter = path == pair.drafter
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    writer = GGUFWriter(unfinished, "gemma4-assistant" if is_drafter else "gemma4")
    writer.add_name(path.stem)
    writer.add_quantization_version(2)
    writer.add_file_type(_file_type(quantum))
    (write_drafter_keys if is_drafter else write_target_keys)(writer, pair.shape)
    pair.vocabulary.write(writer, chat_template(edge=pair.shape.kind == "edge"))
    table = drafter_tensors if is_drafter else target_tensors
    for tensor in table(pair.shape, len(pair.vocabulary)):
        stored_as = tensor_type_of(tensor, quantum)
        writer.add_tensor(tensor.name, pack(filling.of(tensor), stored_as), raw_dtype=stored_as)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    unfinished.replace(path)


def tensor_type_of(tensor: Tensor, quantum: GGMLQuantizationType) -> GGMLQuantizationType:
    """Vectors stay F32; matrices that llama-quant leaves alone stay float; the rest as asked."""
    if len(tensor.shape) == 1:
        return GGMLQuantizationType.F32
    if tensor.role is Role.FLOAT_MATRIX and quantum not in FLOATS:
        return GGMLQuantizationType.F32
    return fitting_type(tensor.shape[-1], quantum)


def _fitting_shape(
    kind: str, codes: int, own_codes: int, quantum: GGMLQuantizationType, changes: dict[str, object]
) -> Shape:
    """The kind's shape, wide enough for both models' codes and for the blocks of the type."""
    smallest = 256 if quantum in K_QUANTS else SMALLEST_WIDTH
    width = changes.get("width", _power_of_two(max(smallest, codes)))
    own = _power_of_two(max(smallest, own_codes))
    if own == width:
        own *= 2
    defaults: dict[str, object] = {"width": width, "drafter_width": own}
    if quantum in K_QUANTS:
        # Whole blocks of 256 also for what the heads and the feed-forward layers put out.
        defaults |= {"feed_forward": 256, "heads": 8}
        defaults |= {"drafter_feed_forward": 256, "drafter_heads": 8}
    return shape_of(kind, **(defaults | changes))


def _power_of_two(least: int) -> int:
    return 1 << (least - 1).bit_length()


def _file_type(quantum: GGMLQuantizationType) -> int:
    names = {"F32": "ALL_F32", "Q4_K": "MOSTLY_Q4_K_M"}
    return int(LlamaFileType[names.get(quantum.name, f"MOSTLY_{quantum.name}")])


def _digest(*parts: object) -> str:
    text = repr((parts, _own_source(), np.__version__))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def _own_source() -> str:
    """Changes whenever the builder (not its tests) does: a kept folder never serves stale files."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("[!t]*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
